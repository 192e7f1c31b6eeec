/** `upload`: sends files to a mailbox, with a progress bar on a terminal. */
import { randomUUID } from 'node:crypto'
import { EXIT, oneLine } from 'jobmill/cli'
import { upload as send } from '../client/upload.ts'
import { lineFrom, transfer } from './client-line.ts'
import type { Command } from './command.ts'
import { progressBar } from './progress-bar.ts'

export const upload: Command = {
  words: 'upload',
  takes: 'FILE…',
  arguments: [1, Infinity],
  says: 'upload files to a mailbox; a retry with the same key creates no duplicates',
  isClient: true,
  options: {
    key: { takes: 'TEXT', says: 'idempotency key (default: a new one per call)' },
  },
  async run(given) {
    const { words, text, has, out, err } = given
    const bar = progressBar(process.stderr)
    const line = lineFrom(given)
    const key = text('key') ?? randomUUID()
    let arrived = 0
    const stopped = (): string =>
      `stopped ${arrived} of ${words.length} files arrived; run the command again with --key ${key} to send the rest without duplicates`
    return transfer({ err, stopped, before: () => bar.end() }, async (signal) => {
      const files = await send({
        ...line,
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
    })
  },
}
