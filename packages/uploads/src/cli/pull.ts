/** `pull`: a folder that has what a mailbox gets, until a signal ends it, or once. */
import { once } from 'node:events'
import { EXIT, numberOf, oneLine } from 'jobmill/cli'
import type { PulledFile, PullOptions } from '../client/options.ts'
import { pull as createPuller, pullOnce } from '../client/pull.ts'
import { troubleText } from '../client/trouble.ts'
import { byOption, lineFrom, stopSignal } from './client-line.ts'
import type { Command, Given } from './command.ts'

export const pull: Command = {
  words: 'pull',
  takes: 'DIR',
  arguments: [1, 1],
  says: 'brings the files of a mailbox into a folder, and acknowledges them',
  isClient: true,
  options: {
    once: {
      type: 'boolean',
      says: 'ends when what waits now is there; 1 is the exit code when something is not',
    },
    keep: {
      type: 'string',
      takes: 'TIME',
      says: 'how long files stay after their acknowledgement: 7d, forever (default 7d)',
    },
    concurrency: { type: 'string', takes: 'N', says: 'how many are fetched at once (default 4)' },
    listen: { type: 'boolean', says: 'hears of new files by events, instead of asking for them' },
  },
  async run(given) {
    const { err, has } = given
    const { signal, done } = stopSignal(err)
    try {
      const options = optionsFrom(given)
      if (!has('once')) {
        const puller = createPuller(options)
        await puller.start()
        if (!has('json')) given.out(`ready   ${options.folder}; stop it with Ctrl-C`)
        if (!signal.aborted) await once(signal, 'abort')
        await puller.stop()
        if (!has('json')) given.out('stopped')
        return EXIT.done
      }
      const { isComplete, files } = await pullOnce({ ...options, signal })
      if (!has('json')) given.out(`done    ${files.length} ${files.length === 1 ? 'file' : 'files'}`)
      return isComplete ? EXIT.done : EXIT.failed
    } catch (error) {
      throw byOption(error)
    } finally {
      done()
    }
  },
}

function optionsFrom(given: Given): PullOptions {
  const { words, text, has, out, err } = given
  const [folder = ''] = words
  const keep = text('keep')
  const concurrency = numberOf(given, 'concurrency')
  return {
    ...lineFrom(given),
    folder,
    ...(keep !== undefined && { keepFor: keep }),
    ...(concurrency !== undefined && { concurrency }),
    ...(has('listen') && { by: 'events' as const }),
    onFile: (file: PulledFile) => out(has('json') ? JSON.stringify(file) : oneLine(`file    ${file.path}`)),
    onTrouble: (trouble) => err(`trouble ${troubleText(trouble)}`),
  }
}
