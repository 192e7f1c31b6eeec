/** Takes the write lock of a SQLite file for a while: `lock.ts FILE MS`. Prints `locked` and `released`. */
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'

const [file = '', ms = '0'] = process.argv.slice(2)
process.on('disconnect', () => process.exit())
// Ctrl+C reaches every process of the terminal; the parent decides.
process.on('SIGINT', () => {})

const db = new DatabaseSync(file, { timeout: 10_000 })
db.exec('BEGIN IMMEDIATE')
process.send?.('locked')
await sleep(Number(ms))
db.exec('ROLLBACK')
process.send?.('released')
db.close()
process.disconnect()
