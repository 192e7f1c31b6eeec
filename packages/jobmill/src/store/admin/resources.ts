/**
 * Disk and connection usage of a database. No table is read, and values that the role may not see are null.
 */

export interface Resources {
  /** Read-only. Requires an open store. */
  resources(): Promise<DatabaseResources>
}

export interface DatabaseResources {
  /** Size of the SQLite file or the whole PostgreSQL database; null for a database in memory. */
  readonly sizeBytes: number | null
  /**
   * Size of the write-ahead log: of the file, or of the whole PostgreSQL server. The latter requires the role
   * `pg_monitor`.
   */
  readonly walBytes: number | null
  /** The file system of the SQLite file; null for a server, which does not report it. */
  readonly disk: { readonly freeBytes: number; readonly totalBytes: number } | null
  /** The pool of this process, without the listening connection; null for a file. */
  readonly pool: PoolUsage | null
  /** Connections of all clients to the server; null for a file. */
  readonly server: { readonly connections: number; readonly most: number } | null
}

export interface PoolUsage {
  readonly open: number
  readonly busy: number
  /** Statements that wait for a free connection. */
  readonly waiting: number
}
