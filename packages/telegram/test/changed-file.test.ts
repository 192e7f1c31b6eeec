/** The SQLite file changes while a gateway runs on it. */
import { renameSync, rmSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { inFull } from '../../../test/support/suite/in-full.ts'
import { scene } from './support/scene.ts'

const CHANGES: Readonly<Record<string, (file: string) => void>> = {
  'a backup is moved into place'(file) {
    const database = new Sqlite(file)
    database.exec(`VACUUM INTO '${file}.bak'`)
    database.close()
    renameSync(`${file}.bak`, file)
  },
  'the -shm file is deleted': (file) => rmSync(`${file}-shm`),
  'both logs are deleted': (file) => ['-wal', '-shm'].forEach((log) => rmSync(`${file}${log}`)),
}

const KINDS = [
  ['synchronous', false],
  ['durable', true],
] as const

describe.each(Object.entries(CHANGES))('D3 %s under a gateway', (name, change) => {
  // The kinds of bots alternate.
  const turn = Object.keys(CHANGES).indexOf(name) % KINDS.length
  test.each(inFull<readonly (typeof KINDS)[number][]>(KINDS, KINDS.slice(turn, turn + 1)))(
    'with a %s bot: every update is answered',
    async (_kind, isAsync) => {
      const bots = { echo: { handler: 'echo', requireAuth: false, async: isAsync } }
      const at = await scene({ store: 'sqlite', bots })
      onTestFinished(at.stop)
      const chat = at.chat('echo')
      const answered = (word: string): Promise<unknown> =>
        chat.until((all) => all.some(({ by, text }) => by === 'bot' && text.includes(word)))
      chat.says('before')
      await answered('before')
      change(at.database)
      for (const word of ['one', 'two', 'three']) {
        // Telegram sends an update again that was refused.
        chat.says(word)
        await answered(word)
      }
      // The jobs of the replies are in the file at the path.
      const database = new Sqlite(at.database, { readonly: true })
      onTestFinished(() => void database.close())
      const jobs = database.prepare('SELECT count(*) FROM jobmill_job').pluck().get()
      expect(jobs).toBeGreaterThanOrEqual(3)
    },
  )
})
