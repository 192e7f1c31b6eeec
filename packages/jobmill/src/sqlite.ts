/** `jobmill/sqlite`: the store on one SQLite file, shared by as many processes of one machine as you like. */
export { storeError as sqliteError } from './store-sqlite/errors.ts'
export type { SqliteTx } from './store-sqlite/handle.ts'
export { sqlite, type SqliteOptions } from './store-sqlite/sqlite.ts'
