/** `upload`: files to a mailbox. On a terminal with a bar that shows how far it is. */
import { randomUUID } from 'node:crypto'
import { EXIT, oneLine } from 'jobmill/cli'
import { upload as send } from '../client/upload.ts'
import { byOption, lineFrom, stopSignal } from './client-line.ts'
import type { Command } from './command.ts'
import { progressBar } from './progress-bar.ts'

export const upload: Command = {
  words: 'upload',
  takes: 'FILE…',
  arguments: [1, Infinity],
  says: 'sends files to a mailbox; sent again with the same key, there is no second copy',
  isClient: true,
  options: {
    key: {
      type: 'string',
      takes: 'TEXT',
      says: 'the idempotency key (default: a new one, for the attempts of this call)',
    },
  },
  async run(given) {
    const { words, text, has, out, err } = given
    const bar = progressBar(process.stderr)
    const { signal, done } = stopSignal(err, bar.end)
    const key = text('key') ?? randomUUID()
    let arrived = 0
    try {
      const files = await send({
        ...lineFrom(given),
        files: words.map((path) => ({ path })),
        key,
        onSent: (sent) => void (arrived += sent.length),
        onProgress: ({ sentBytes, totalBytes, path }) =>
          signal.aborted ? undefined : bar.show(sentBytes, totalBytes, path),
        signal,
      })
      bar.end()
      for (const { uri, name } of has('json') ? [] : files) out(oneLine(`file    ${uri}  ${name}`))
      if (has('json')) out(JSON.stringify(files))
      return EXIT.done
    } catch (error) {
      bar.end()
      if (!signal.aborted) throw byOption(error)
      err(
        `stopped ${arrived} of ${words.length} files have arrived; with --key ${key} the same files can be sent again, and none comes twice`,
      )
      return EXIT.failed
    } finally {
      done()
    }
  },
}
