// Measures the space that a system uses on disk: tables and indexes on PostgreSQL, the file on SQLite.
import { existsSync, statSync } from 'node:fs'
import type { Cell, Figure } from '../case.ts'

/** Bytes. Empty on Redis. */
export type Disk = Readonly<Partial<Record<'tables' | 'indexes' | 'file', number>>>

// The system is the only user of the database. Tables include their TOAST tables, so the two parts add up to
// pg_total_relation_size.
const SIZES = `
  SELECT sum(pg_table_size(relid)) AS tables, sum(pg_indexes_size(relid)) AS indexes FROM pg_stat_user_tables`

/** On SQLite, call it while no handle is open: until then, some of the data is in the write-ahead log. */
export async function readDisk(cell: Cell, how = { vacuum: false }): Promise<Disk> {
  const { place } = cell
  if (place.store === 'sqlite') return { file: existsSync(place.url) ? statSync(place.url).size : 0 }
  if (place.store === 'redis') return {}
  const client = await cell.admin()
  if (how.vacuum) await client.query('VACUUM')
  const { rows } = await client.query<Record<'tables' | 'indexes', string | null>>(SIZES)
  return { tables: Number(rows[0]?.tables), indexes: Number(rows[0]?.indexes) }
}

/** The difference of two measurements per job. */
export function diskFigures(name: string, jobs: number, before: Disk, after: Disk, suffix = ''): Figure[] {
  return Object.entries(after).map(([part, bytes]) => ({
    case: `${name}-${part}${suffix}`,
    unit: 'bytes/job',
    value: (bytes - (before[part as keyof Disk] ?? 0)) / jobs,
  }))
}
