/** `pull`: keeps a folder in sync with a mailbox until a signal stops it, or pulls once. */
import { once } from 'node:events'
import { EXIT, numberOf, oneLine } from 'jobmill/cli'
import { omitUndefined } from 'jobmill/internal'
import type { PulledFile, PullOptions } from '../client/options.ts'
import { pull as createPuller, pullOnce } from '../client/pull.ts'
import { troubleText } from '../client/trouble.ts'
import { lineFrom, transfer } from './client-line.ts'
import type { Command, CommandInput } from './command.ts'

export const pull: Command = {
  words: 'pull',
  takes: 'DIR',
  arguments: [1, 1],
  says: 'pull the files of a mailbox into a folder and acknowledge them',
  isClient: true,
  options: {
    once: { says: 'exit when all pending files are pulled; exit code 1 if any failed' },
    keep: {
      takes: 'TIME',
      says: 'how long files stay after they are acknowledged: 7d, forever (default 7d)',
    },
    concurrency: { takes: 'N', says: 'maximum parallel downloads (default 4)' },
    listen: { says: 'use server-sent events instead of polling' },
  },
  async run(given) {
    const { err, has } = given
    const options = optionsFrom(given)
    return transfer({ err, stopped }, async (signal) => {
      if (!has('once')) {
        const puller = createPuller(options)
        await puller.start()
        if (!has('json')) given.out(`ready   ${options.folder}; stop with Ctrl+C`)
        if (!signal.aborted) await once(signal, 'abort')
        await puller.stop()
        if (!has('json')) given.out('stopped')
        return EXIT.done
      }
      const { isComplete, files } = await pullOnce({ ...options, signal })
      if (!has('json')) given.out(`done    ${files.length} ${files.length === 1 ? 'file' : 'files'}`)
      return isComplete ? EXIT.done : EXIT.failed
    })
  },
}

const stopped = (): string => 'stopped before all files were pulled; run the command again to pull the rest'

function optionsFrom(given: CommandInput): PullOptions {
  const { words, text, has, out, err } = given
  const [folder = ''] = words
  return {
    ...lineFrom(given),
    folder,
    ...omitUndefined({ keepFor: text('keep'), concurrency: numberOf(given, 'concurrency') }),
    ...(has('listen') && { by: 'events' as const }),
    onFile: (file: PulledFile) => out(has('json') ? JSON.stringify(file) : oneLine(`file    ${file.path}`)),
    onTrouble: (trouble) => err(`problem ${troubleText(trouble)}`),
  }
}
