// The SQLite store as a subject of the suite: every case on its own file, a copy of one that was migrated
// once.
import { copyFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { beforeAll } from 'vitest'
import { freshFile } from '../../../../test/support/databases.ts'
import { sqlite } from '../../src/sqlite.ts'
import type { ConformanceSubject } from '../../../conformance/src/index.ts'
import type { FullStore } from '../../src/store/store.ts'

export function sqliteSubject(): ConformanceSubject<FullStore> {
  const migrated = freshFile()
  let path = ''
  beforeAll(async () => {
    const store = sqlite(migrated)
    await store.open()
    await store.close()
  })
  return {
    name: 'sqlite',
    async fresh() {
      path = freshFile()
      copyFileSync(migrated, path)
    },
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
