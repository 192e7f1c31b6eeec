/** `jobmill/sqlite`: the store on one SQLite file, which any number of processes on one machine can share. */
export { storeError as sqliteError } from './store-sqlite/connection/errors.ts'
export type { SqliteTx } from './store-sqlite/connection/handle.ts'
export { sqlite, type SqliteOptions } from './store-sqlite/sqlite.ts'
export {
  refuseOldLogs,
  sharedFile,
  type SharedFile,
  type SharedFileOptions,
} from './store-sqlite/file/shared-file.ts'
export { userHandleError as sqliteTxError } from './store-sqlite/connection/errors.ts'
