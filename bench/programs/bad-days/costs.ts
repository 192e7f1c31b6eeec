/** What the statements of each part cost, as the server counts it. */
import type pgDriver from 'pg'

/** The statements of each part, by a text in them. */
export const PARTS = {
  claim: 'jobmill.claim(',
  finish: 'jobmill.finish(',
  enqueue: 'jobmill.enqueue(',
  heartbeat: 'jobmill.heartbeat(',
  fold: 'jobmill.tally WHERE ctid',
} as const
export type Part = keyof typeof PARTS
/** Per job for claims and writes; per call for heartbeats and folds, which run once in seconds. */
export const PER_CALL: ReadonlySet<string> = new Set<Part>(['heartbeat', 'fold'])
export interface Cost {
  readonly pages: number
  readonly ms: number
}

export async function costsOf(admin: pgDriver.Client, jobs: number): Promise<Readonly<Record<Part, Cost>>> {
  const { rows } = await admin.query<{ query: string; calls: number; pages: number; ms: number }>(
    `SELECT query, calls::float8, (shared_blks_hit + shared_blks_read)::float8 AS pages, total_exec_time AS ms
       FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  )
  const costs = Object.entries(PARTS).map(([part, text]) => {
    const found = rows.filter(({ query }) => query.includes(text))
    if (found.length === 0) throw new Error(`no statement contains "${text}"`)
    const sum = (key: 'calls' | 'pages' | 'ms'): number => found.reduce((all, one) => all + one[key], 0)
    const count = PER_CALL.has(part) ? Math.max(1, sum('calls')) : jobs
    return [part, { pages: sum('pages') / count, ms: sum('ms') / count }]
  })
  return Object.fromEntries(costs) as Record<Part, Cost>
}
