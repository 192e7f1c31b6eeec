/** Exports and imports a whole database, for transfers between stores. */
import { stat } from 'node:fs/promises'
import type {
  OtherTable,
  Page,
  Part,
  Transfer,
  TransferredKey,
  TransferredParts,
  TransferredTick,
} from '../../store/admin/transfer.ts'
import type { Look, Verb, Work } from '../work.ts'
import { idsOut, jobsIn, jobsOut } from './jobs.ts'
import { restIn, restOut } from './rest.ts'

type Ways = {
  readonly [P in Part]: {
    readonly out: (look: Look, page: Page<P>) => TransferredParts[P][]
    readonly in: (work: Work, items: readonly TransferredParts[P][]) => number
  }
}

const WAYS: Ways = {
  jobs: { out: jobsOut, in: jobsIn },
  keys: { out: keysOut, in: keysIn },
  ticks: { out: ticksOut, in: ticksIn },
}

export function transfer(
  path: string,
  read: <T>(look: (at: Look) => T) => Promise<T>,
  write: <T>(weight: number, verb: Verb<T>) => Promise<T>,
): Transfer {
  return {
    identity: () => identity(path),
    exportIds: async (page) => read((look) => idsOut(look, page)),
    exportItems: async (part, page) => read((look) => WAYS[part].out(look, page)),
    importItems: async (part, items) => write(items.length, (work) => WAYS[part].in(work, items)),
    exportRest: async () => read(restOut),
    importRest: async (rest) => write(1, (work) => restIn(work, rest)),
    otherTables: async () => read(otherTables),
  }
}

async function identity(path: string): Promise<string> {
  if (path === ':memory:') return `sqlite ${path}`
  const { dev, ino } = await stat(path)
  return `sqlite ${dev} ${ino}`
}

const OTHER_TABLES = `
  SELECT name FROM sqlite_schema
   WHERE type = 'table' AND name NOT GLOB 'jobmill_*' AND name NOT GLOB 'sqlite_*' ORDER BY name`

/** Each application has a table of its migrations. */
const MIGRATION = '_migration'

function otherTables({ sql }: Look): OtherTable[] {
  const names = (sql(OTHER_TABLES).all() as { readonly name: string }[]).map(({ name }) => name)
  const apps = names
    .filter((name) => name.endsWith(MIGRATION))
    .map((name) => name.slice(0, -MIGRATION.length))
  return names.map((name) => ({ name, app: apps.find((app) => name.startsWith(`${app}_`)) ?? null }))
}

// Both use the primary key; the first one reads in its order.
const KEYS_OUT = `SELECT key, job_id AS job, expires_at AS expiresAt FROM jobmill_dedupe WHERE key > ? ORDER BY key LIMIT ?`
const KEYS_IN = `INSERT OR IGNORE INTO jobmill_dedupe (key, job_id, expires_at) VALUES (?, ?, ?)`

function keysOut({ sql }: Look, { after, limit }: Page<'keys'>): TransferredKey[] {
  return sql(KEYS_OUT).all(after?.key ?? '', limit) as TransferredKey[]
}

function keysIn({ sql }: Work, keys: readonly TransferredKey[]): number {
  return keys.filter(({ key, job, expiresAt }) => sql(KEYS_IN).run(key, job, expiresAt).changes !== 0).length
}

// Served ticks, so that the target database does not serve them again. Both use the primary key, as above.
const TICKS_OUT = `
  SELECT schedule, at, outcome, job, served_at AS servedAt FROM jobmill_tick
  WHERE (schedule, at) > (?, ?) ORDER BY schedule, at LIMIT ?`
const TICKS_IN = `INSERT OR IGNORE INTO jobmill_tick (schedule, at, outcome, job, served_at) VALUES (?, ?, ?, ?, ?)`

function ticksOut({ sql }: Look, { after, limit }: Page<'ticks'>): TransferredTick[] {
  return sql(TICKS_OUT).all(after?.schedule ?? '', after?.at ?? 0, limit) as TransferredTick[]
}

function ticksIn({ sql }: Work, ticks: readonly TransferredTick[]): number {
  const isNew = ({ schedule, at, outcome, job, servedAt }: TransferredTick): boolean =>
    sql(TICKS_IN).run(schedule, at, outcome, job, servedAt).changes !== 0
  return ticks.filter(isNew).length
}
