/** Export and import between databases: the part of this store. */
import { stat } from 'node:fs/promises'
import type { Page, Part, Transfer, TransferredKey, TransferredParts } from '../../store/admin/transfer.ts'
import type { Look, Verb, Work } from '../work.ts'
import { idsOut, jobsOut } from './export-jobs.ts'
import { jobsIn } from './import-jobs.ts'
import { restIn, restOut } from './rest.ts'
import { ticksIn, ticksOut } from './ticks.ts'

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
  }
}

async function identity(path: string): Promise<string> {
  if (path === ':memory:') return `sqlite ${path}`
  const { dev, ino } = await stat(path)
  return `sqlite ${dev} ${ino}`
}

// Both by the primary key, the first in its order.
const OUT = `SELECT key, job_id AS job, expires_at AS expiresAt FROM jobmill_dedupe WHERE key > ? ORDER BY key LIMIT ?`
const IN = `INSERT OR IGNORE INTO jobmill_dedupe (key, job_id, expires_at) VALUES (?, ?, ?)`

function keysOut({ sql }: Look, { after, limit }: Page<'keys'>): TransferredKey[] {
  return sql(OUT).all(after?.key ?? '', limit) as TransferredKey[]
}

function keysIn({ sql }: Work, keys: readonly TransferredKey[]): number {
  return keys.filter(({ key, job, expiresAt }) => sql(IN).run(key, job, expiresAt).changes !== 0).length
}
