/** The days: their jobs, how the jobs pass, and what makes a day bad. */
import type pgDriver from 'pg'

export const QUEUE = 'default'
export const KIND = 'work'
export const OTHER_KIND = 'other'

/**
 * How the measured jobs pass: from a backlog, 500 at a time; a few at a time; or one by one. The jobs before
 * them pass 500 at a time.
 */
export const TRAFFICS = {
  bulk: { backlog: 20_000, enqueue: 1_000, claim: 500, last: 20_000 },
  steady: { backlog: 0, enqueue: 20, claim: 50, last: 10_000 },
  single: { backlog: 0, enqueue: 1, claim: 1, last: 1_000 },
} as const
export type TrafficName = keyof typeof TRAFFICS

/** What makes the day bad, in a session of its own, at a scale. Returns what to do when the day is over. */
type Trouble = (client: pgDriver.Client, scale: number) => Promise<() => Promise<unknown>>

export interface Day {
  readonly name: string
  readonly traffic: TrafficName
  /** How many jobs pass before the measurement. */
  readonly jobs: number
  readonly trouble?: Trouble
  /** The number of priorities of the jobs. */
  readonly priorities?: number
}

export const nothing = (): Promise<void> => Promise.resolve()
const OPEN_TRANSACTION: Trouble = async (client) => {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  await client.query('SELECT pg_current_xact_id()')
  return () => client.query('ROLLBACK')
}
const OTHER_KINDS: Trouble = async (client, scale) => {
  await client.query(
    `INSERT INTO jobmill.ready (queue_id, priority, seq, id, ready_at, kind_id, tries, attempt, crashes, flags)
     SELECT (SELECT id FROM jobmill.queue WHERE name = $1), 0, nextval('jobmill.seq'), gen_random_uuid(), 0,
            (SELECT id FROM jobmill.kind WHERE name = $2), 0, 0, 0, 0
       FROM generate_series(1, $3::int4)`,
    [QUEUE, OTHER_KIND, Math.round(1_000_000 * scale)],
  )
  await client.query('VACUUM ANALYZE jobmill.ready')
  return nothing
}
const NO_AUTOVACUUM: Trouble = async (client) => {
  const { rows } = await client.query<{ name: string; toast: boolean }>(
    `SELECT quote_ident(relname) AS name, reltoastrelid <> 0 AS toast FROM pg_class
      WHERE relnamespace = 'jobmill'::regnamespace AND relkind = 'r'`,
  )
  for (const { name, toast } of rows)
    await client.query(
      `ALTER TABLE jobmill.${name} SET (autovacuum_enabled = off${toast ? ', toast.autovacuum_enabled = off' : ''})`,
    )
  return nothing
}

export const DAYS: readonly Day[] = [
  { name: 'good', traffic: 'bulk', jobs: 20_000 },
  { name: 'good', traffic: 'steady', jobs: 20_000 },
  { name: 'good', traffic: 'single', jobs: 20_000 },
  { name: 'open-transaction', traffic: 'bulk', jobs: 200_000, trouble: OPEN_TRANSACTION },
  { name: 'open-transaction', traffic: 'steady', jobs: 60_000, trouble: OPEN_TRANSACTION },
  { name: 'open-transaction', traffic: 'single', jobs: 60_000, trouble: OPEN_TRANSACTION },
  { name: 'other-kind', traffic: 'bulk', jobs: 20_000, trouble: OTHER_KINDS },
  { name: 'other-kind', traffic: 'steady', jobs: 20_000, trouble: OTHER_KINDS },
  { name: 'other-kind', traffic: 'single', jobs: 20_000, trouble: OTHER_KINDS },
  { name: 'priorities', traffic: 'bulk', jobs: 200_000, priorities: 10_000 },
  { name: 'priorities', traffic: 'steady', jobs: 60_000, priorities: 10_000 },
  { name: 'no-autovacuum', traffic: 'bulk', jobs: 300_000, trouble: NO_AUTOVACUUM },
  { name: 'no-autovacuum', traffic: 'steady', jobs: 60_000, trouble: NO_AUTOVACUUM },
]
