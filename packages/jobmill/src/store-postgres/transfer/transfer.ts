/** The transfer tools of this store: export and import of a whole database. */
import type {
  Page,
  Part,
  Transfer,
  TransferredKey,
  TransferredParts,
  TransferredTick,
} from '../../store/admin/transfer.ts'
import { type Context, run } from '../context.ts'
import { GIVEN_CTE } from '../fragments.ts'
import { idsOut, jobsOut } from './export-jobs.ts'
import { jobsIn } from './import-jobs.ts'
import { restIn, restOut } from './rest.ts'

type Ways = {
  readonly [P in Part]: {
    readonly out: (context: Context, page: Page<P>) => Promise<TransferredParts[P][]>
    readonly in: (context: Context, items: readonly TransferredParts[P][]) => Promise<number>
  }
}

const WAYS: Ways = {
  jobs: { out: jobsOut, in: jobsIn },
  keys: { out: keysOut, in: keysIn },
  ticks: { out: ticksOut, in: ticksIn },
}

export function transfer(run: <T>(verb: (context: Context) => Promise<T>) => Promise<T>): Transfer {
  return {
    identity: () => run(identity),
    exportIds: (page) => run((context) => idsOut(context, page)),
    exportItems: (part, page) => run((context) => WAYS[part].out(context, page)),
    importItems: (part, items) => run((context) => WAYS[part].in(context, items)),
    exportRest: () => run(restOut),
    importRest: (rest) => run((context) => restIn(context, rest)),
  }
}

/** The start time of the server to the microsecond, and the ids of the database and of a table in it. */
const IDENTITY = `
WITH ${GIVEN_CTE}
SELECT concat_ws(' ', 'postgres', pg_postmaster_start_time(), (SELECT oid FROM pg_database WHERE datname = current_database()),
                 'jobmill.migration'::regclass::oid) AS identity FROM given`

async function identity(context: Context): Promise<string> {
  const [row] = await run(context, context.connection.query, IDENTITY, '')
  return String(row?.['identity'])
}

/** Uses the primary key, in its order. */
const keysAfter = ({ after, limit }: Page<'keys'>): string => `
WITH ${GIVEN_CTE}
SELECT key, job_id, expires_at FROM jobmill.dedupe
 WHERE ${after === null ? 'true' : `key > (SELECT p ->> 'after' FROM given)`} ORDER BY key LIMIT ${limit}`

/** In the order of the keys, like every enqueue, to avoid deadlocks. */
const KEYS_IN = `
WITH ${GIVEN_CTE}, taken AS (
  INSERT INTO jobmill.dedupe (key, job_id, expires_at)
  SELECT x.key, x.job, x."expiresAt" FROM given, json_to_recordset(p -> 'keys') AS x(key text, job uuid, "expiresAt" int8) ORDER BY x.key
  ON CONFLICT (key) DO NOTHING RETURNING 1
)
SELECT count(*)::int4 AS keys FROM taken`

async function keysOut(context: Context, page: Page<'keys'>): Promise<TransferredKey[]> {
  const after = `"after":${JSON.stringify(page.after?.key ?? null)}`
  const rows = await run(context, context.connection.query, keysAfter(page), after)
  return rows.map((row) => ({
    key: row['key'] as string,
    job: row['job_id'] as string,
    expiresAt: row['expires_at'] as number | null,
  }))
}

async function keysIn(context: Context, keys: readonly TransferredKey[]): Promise<number> {
  const [row] = await run(context, context.connection.query, KEYS_IN, `"keys":${JSON.stringify(keys)}`)
  return Number(row?.['keys'])
}

/** Uses the primary key, in its order. */
const ticksAfter = ({ after, limit }: Page<'ticks'>): string => `
WITH ${GIVEN_CTE}
SELECT schedule, at, outcome, job_id, served_at FROM jobmill.tick
 WHERE ${after === null ? 'true' : `(schedule, at) > ((SELECT p ->> 'schedule' FROM given), (SELECT (p ->> 'at')::int8 FROM given))`}
 ORDER BY schedule, at LIMIT ${limit}`

const TICKS_IN = `
WITH ${GIVEN_CTE}, served AS (
  INSERT INTO jobmill.tick (schedule, at, outcome, job_id, served_at)
  SELECT x.schedule, x.at, x.outcome, x.job, x."servedAt"
    FROM given, json_to_recordset(p -> 'ticks') AS x(schedule text, at int8, outcome text, job uuid, "servedAt" int8) ORDER BY 1, 2
  ON CONFLICT (schedule, at) DO NOTHING RETURNING 1
)
SELECT count(*)::int4 AS ticks FROM served`

async function ticksOut(context: Context, page: Page<'ticks'>): Promise<TransferredTick[]> {
  const { schedule = null, at = null } = page.after ?? {}
  const after = JSON.stringify({ schedule, at }).slice(1, -1)
  const rows = await run(context, context.connection.query, ticksAfter(page), after)
  return rows.map((row) => ({
    schedule: row['schedule'] as string,
    at: row['at'] as number,
    outcome: row['outcome'] as TransferredTick['outcome'],
    job: row['job_id'] as string,
    servedAt: row['served_at'] as number,
  }))
}

async function ticksIn(context: Context, ticks: readonly TransferredTick[]): Promise<number> {
  const [row] = await run(context, context.connection.query, TICKS_IN, `"ticks":${JSON.stringify(ticks)}`)
  return Number(row?.['ticks'])
}
