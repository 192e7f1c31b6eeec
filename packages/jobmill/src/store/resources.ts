/** How much room a database takes and has. Cheap enough for every scrape: no table is read, and what the role may not see is null. */

export interface Resources {
  /** Changes nothing. Works while the store is open. */
  resources(): Promise<DatabaseResources>
}

export interface DatabaseResources {
  /** Of the SQLite file, or of the whole PostgreSQL database; null for one in memory. */
  readonly sizeBytes: number | null
  /** Of the write-ahead log: that of the file, or of the whole PostgreSQL server, which only a member of `pg_monitor` may read. */
  readonly walBytes: number | null
  /** The file system of the SQLite file; null for a server, which does not tell. */
  readonly disk: { readonly freeBytes: number; readonly totalBytes: number } | null
  /** The pool of this process, without the connection that listens; null for a file. */
  readonly pool: PoolUsage | null
  /** Of all clients of the server; null for a file. */
  readonly server: { readonly connections: number; readonly most: number } | null
}

export interface PoolUsage {
  readonly open: number
  readonly busy: number
  /** Statements that wait for a free connection. */
  readonly waiting: number
}
