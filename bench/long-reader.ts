// A process that reads a SQLite file and keeps its view of it until its parent lets go: `fork('long-reader.ts', [file])`. A
// process of its own, because two copies of the driver in one do not see each other's locks.
import Database from 'better-sqlite3'

const reader = new Database(process.argv[2] ?? '', { readonly: true })
reader.exec('BEGIN')
// The view is taken by the first read.
reader.prepare('SELECT count(*) FROM sqlite_master').get()
process.send?.('reading')
process.on('disconnect', () => {
  reader.close()
  process.exit()
})
