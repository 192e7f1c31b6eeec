// The SQLite store as a subject of the suite: every case on a file of its own.
import Database from 'better-sqlite3'
import { freshFile } from '../../../../test/support/databases.ts'
import { sqlite } from '../../src/sqlite.ts'
import type { ConformanceSubject } from '../../src/testing/index.ts'

export function sqliteSubject(): ConformanceSubject {
  let path = ''
  return {
    name: 'sqlite',
    fresh: async () => void (path = freshFile()),
    handle: (options) => sqlite(path, options),
    async transaction(work, end) {
      const db = new Database(path)
      try {
        db.exec('begin immediate')
        const result = await work(db)
        db.exec(end)
        return result
      } finally {
        db.close()
      }
    },
  }
}
