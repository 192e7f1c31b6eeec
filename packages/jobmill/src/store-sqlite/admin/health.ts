/**
 * The size of the database. Values that need a scan of every page are reported only for small files, because
 * the scan blocks this process.
 */
import type { DatabaseHealth, TableHealth } from '../../store/admin/admin.ts'
import { filePaths } from '../file/file-paths.ts'
import { fileSize } from '../file/same-file.ts'
import { type SqliteHandle, sqliteVersion, statementsOf } from '../connection/handle.ts'
import type { StoreSettings } from '../live.ts'
import { sizesOf } from './checks.ts'
import { inMemory, tablesIn } from './parts.ts'
import { isFileThere, lookInto } from './reach.ts'

/** About a millisecond per MiB. */
const LOOKED_THROUGH_BYTES = 16 * 2 ** 20

const BYTES = `
  SELECT m.tbl_name AS name, sum(d.pgsize) AS bytes FROM dbstat AS d JOIN sqlite_schema AS m ON m.name = d.name
  WHERE d.aggregate = TRUE GROUP BY m.tbl_name`

// At most six rows per queue.
const JOBS = `SELECT total(n) AS n FROM jobmill_count`

export async function health(settings: StoreSettings): Promise<DatabaseHealth> {
  if (!isFileThere(settings)) {
    const server = inMemory(serverOf)
    return { server, sizeBytes: 0, logBytes: null, tables: [], pinned: [] }
  }
  return lookInto(settings, (handle) => {
    const { all } = sizesOf(handle)
    const bytes = all > LOOKED_THROUGH_BYTES ? null : bytesIn(handle)
    const tables = tablesIn(handle).map((name): TableHealth => ({
      name,
      bytes: bytes === null ? null : (bytes.get(name) ?? 0),
      rows: rowsIn(handle, name, bytes !== null),
      deadRows: null,
    }))
    return {
      server: serverOf(handle),
      sizeBytes: all,
      logBytes: fileSize(filePaths(settings.path).log) ?? 0,
      tables: tables.toSorted((a, b) => (b.bytes ?? 0) - (a.bytes ?? 0) || (b.rows ?? 0) - (a.rows ?? 0)),
      pinned: [],
    }
  })
}

function serverOf(handle: SqliteHandle): string {
  return `SQLite ${sqliteVersion(handle)}`
}

function bytesIn(handle: SqliteHandle): ReadonlyMap<string, number> {
  const rows = statementsOf(handle)(BYTES).all() as { name: string; bytes: number }[]
  return new Map(rows.map(({ name, bytes }) => [name, bytes]))
}

/**
 * For a large file, jobs come from the counters, and for tables with a rowid the range of rowids is an
 * estimate.
 */
function rowsIn(handle: SqliteHandle, table: string, isSmall: boolean): number | null {
  const number = (text: string): number | null =>
    (statementsOf(handle)(text).get() as { n: number | null } | undefined)?.n ?? null
  if (isSmall) return number(`SELECT count(*) AS n FROM ${table}`)
  if (table === 'jobmill_job') return number(JOBS)
  if (!hasNumbers(handle, table)) return null
  // Two statements, one for each end; a single one would scan everything between.
  const first = number(`SELECT min(rowid) AS n FROM ${table}`)
  const last = number(`SELECT max(rowid) AS n FROM ${table}`)
  return first === null || last === null ? 0 : last - first + 1
}

function hasNumbers(handle: SqliteHandle, table: string): boolean {
  const text = `SELECT 1 AS n FROM pragma_table_list(?) WHERE wr = 0 AND schema = 'main'`
  return statementsOf(handle)(text).get(table) !== undefined
}
