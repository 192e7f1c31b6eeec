// A process that opens a SQLite file and keeps its snapshot until its parent releases it:
// `fork('long-reader.ts', [file])`. It is a separate process because two copies of the driver in one process
// do not see each other's locks.
import Database from 'better-sqlite3'

const reader = new Database(process.argv[2] ?? '', { readonly: true })
reader.exec('BEGIN')
// The first read takes the snapshot.
reader.prepare('SELECT count(*) FROM sqlite_master').get()
process.send?.('reading')
process.on('disconnect', () => {
  reader.close()
  process.exit()
})
