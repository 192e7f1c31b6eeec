/** `check`: whether the config can be used, and what it comes to. */
import { type Command, EXIT } from './command.ts'
import { DEFAULT_BLOBS, DEFAULT_DATABASE, openInbox } from './open-inbox.ts'

export const check: Command = {
  words: 'check',
  says: 'reads the config, opens the database and the place for files, and says what counts',
  async run({ config, out, has }) {
    const settings = config()
    const { inbox, close } = await openInbox(settings)
    try {
      await inbox.start()
      const database = (settings.database ?? DEFAULT_DATABASE).replace(/\/\/[^@/]*@/, '//…@')
      const told = { database, blobs: settings.blobs ?? DEFAULT_BLOBS, ...inbox.limits }
      if (has('json')) out(JSON.stringify(told))
      else for (const [name, value] of Object.entries(told)) out(`${name.padEnd(16)} ${value ?? 'none'}`)
      return EXIT.done
    } finally {
      await close()
    }
  },
}
