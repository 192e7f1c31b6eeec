// Samples what the sessions of a cell's database wait for, and counts commits and claims.
import pg from 'pg'
import type { Cell, Figure } from '../case.ts'

const EVERY_MS = 50

/** Of the sessions that run a statement: those that wait for a lock (row, table …), a latch, or the log. */
const SAMPLE = `
SELECT count(*)::int4 AS busy,
       (count(*) FILTER (WHERE wait_event_type = 'Lock'))::int4 AS locks,
       (count(*) FILTER (WHERE wait_event_type = 'LWLock' AND wait_event NOT LIKE 'WAL%'))::int4 AS latches,
       (count(*) FILTER (WHERE wait_event LIKE 'WAL%'))::int4 AS wal
  FROM pg_stat_activity WHERE datname = $1 AND state = 'active' AND backend_type = 'client backend'`
const COMMITS = `SELECT xact_commit::float8 AS n FROM pg_stat_database WHERE datname = $1`
/** Each claim that leases a job draws one token. */
const CLAIMS = `SELECT pg_sequence_last_value('jobmill.token')::float8 AS n`

interface Sample {
  readonly busy: number
  readonly locks: number
  readonly latches: number
  readonly wal: number
}

async function countOf(client: pg.Client, text: string, values: readonly string[] = []): Promise<number> {
  return Number((await client.query<{ n: number }>(text, [...values])).rows[0]?.n)
}

/**
 * Starts sampling; the returned function ends it. The connection is to another database, so that its
 * commits do not count. PostgreSQL shows the commits of a busy session up to a second late, at the start and
 * at the end.
 */
export async function watchWaits(cell: Cell): Promise<(jobs: number) => Promise<Figure[]>> {
  if (cell.place.store !== 'postgres' || cell.server === undefined) return () => Promise.resolve([])
  const client = new pg.Client({ connectionString: cell.server.url })
  await client.connect()
  const admin = await cell.admin()
  const database = new URL(cell.place.url).pathname.slice(1)
  const isOurs = cell.system.name === 'jobmill'
  const counts = async (): Promise<readonly [commits: number, claims: number]> => [
    await countOf(client, COMMITS, [database]),
    isOurs ? await countOf(admin, CLAIMS) : 0,
  ]
  const samples: Sample[] = []
  let sampling: Promise<unknown> = Promise.resolve()
  const timer = setInterval(() => {
    sampling = client.query<Sample>(SAMPLE, [database]).then(({ rows }) => samples.push(...rows))
  }, EVERY_MS)
  const before = await counts()
  return async (jobs) => {
    clearInterval(timer)
    await sampling
    const after = await counts()
    await client.end()
    const total = (key: keyof Sample): number => samples.reduce((sum, one) => sum + one[key], 0)
    const share = (key: keyof Sample): number => (total(key) / Math.max(1, total('busy'))) * 100
    const name = cell.case
    return [
      { case: `${name}-commits`, unit: 'per 1,000 jobs', value: ((after[0] - before[0]) / jobs) * 1_000 },
      ...(isOurs
        ? [{ case: `${name}-claim`, unit: 'jobs/claim', value: jobs / (after[1] - before[1]) }]
        : []),
      { case: `${name}-busy`, unit: 'sessions', value: total('busy') / Math.max(1, samples.length) },
      { case: `${name}-lock`, unit: '% of these', value: share('locks') },
      { case: `${name}-latch`, unit: '% of these', value: share('latches') },
      { case: `${name}-log`, unit: '% of these', value: share('wal') },
    ]
  }
}
