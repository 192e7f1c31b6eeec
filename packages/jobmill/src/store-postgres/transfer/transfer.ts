/** The transfer tools of this store: export and import of a whole database. */
import type { Page, Part, Transfer, TransferredParts } from '../../store/admin/transfer.ts'
import { ask, askOne, type Context } from '../context.ts'
import { GIVEN_CTE } from '../fragments.ts'
import { idsOut, jobsOut } from './export-jobs.ts'
import { jobsIn } from './import-jobs.ts'
import { restIn, restOut } from './rest.ts'

/** Identifies a database by the start time of its server, its id, and the id of a table in it. */
const IDENTITY = `
WITH ${GIVEN_CTE}
SELECT concat_ws(' ', 'postgres', pg_postmaster_start_time(), (SELECT oid FROM pg_database WHERE datname = current_database()),
                 'jobmill.migration'::regclass::oid) AS identity FROM given`

async function identity(context: Context): Promise<string> {
  return (await askOne<{ identity: string }>(context, IDENTITY)).identity
}

/** Each application has a schema, named after that of the store, with a table of its migrations. */
const OTHER_TABLES = `
WITH ${GIVEN_CTE}, app AS (
  SELECT n.oid, n.nspname, substr(n.nspname, length(own.nspname) + 2) AS app
    FROM given, pg_namespace AS n, pg_namespace AS own
   WHERE own.oid = (SELECT relnamespace FROM pg_class WHERE oid = 'jobmill.migration'::regclass)
     AND starts_with(n.nspname, own.nspname || '_')
)
SELECT app.nspname || '.' || c.relname AS name, app.app FROM app JOIN pg_class AS c ON c.relnamespace = app.oid
 WHERE c.relkind IN ('r', 'p')
   AND EXISTS (SELECT FROM pg_class AS m WHERE m.relnamespace = app.oid AND m.relname = app.app || '_migration')
 ORDER BY 1`

/** Uses the primary key, in its order. */
const keysAfter = ({ after, limit }: Page<'keys'>): string => `
WITH ${GIVEN_CTE}
SELECT key, job_id AS job, expires_at AS "expiresAt" FROM jobmill.dedupe
 WHERE ${after === null ? 'true' : `key > (SELECT p ->> 'key' FROM given)`} ORDER BY key LIMIT ${limit}`

/** In the order of the keys, like every enqueue, to avoid deadlocks. */
const KEYS_IN = `
WITH ${GIVEN_CTE}, taken AS (
  INSERT INTO jobmill.dedupe (key, job_id, expires_at)
  SELECT x.key, x.job, x."expiresAt" FROM given, json_to_recordset(p -> 'items') AS x(key text, job uuid, "expiresAt" int8) ORDER BY x.key
  ON CONFLICT (key) DO NOTHING RETURNING 1
)
SELECT count(*)::int4 AS written FROM taken`

/** Uses the primary key, in its order. */
const ticksAfter = ({ after, limit }: Page<'ticks'>): string => `
WITH ${GIVEN_CTE}
SELECT schedule, at, outcome, job_id AS job, served_at AS "servedAt" FROM jobmill.tick
 WHERE ${after === null ? 'true' : `(schedule, at) > ((SELECT p ->> 'schedule' FROM given), (SELECT (p ->> 'at')::int8 FROM given))`}
 ORDER BY schedule, at LIMIT ${limit}`

const TICKS_IN = `
WITH ${GIVEN_CTE}, served AS (
  INSERT INTO jobmill.tick (schedule, at, outcome, job_id, served_at)
  SELECT x.schedule, x.at, x.outcome, x.job, x."servedAt"
    FROM given, json_to_recordset(p -> 'items') AS x(schedule text, at int8, outcome text, job uuid, "servedAt" int8) ORDER BY 1, 2
  ON CONFLICT (schedule, at) DO NOTHING RETURNING 1
)
SELECT count(*)::int4 AS written FROM served`

async function writeItems(context: Context, statement: string, items: readonly object[]): Promise<number> {
  return (await askOne<{ written: number }>(context, statement, { items })).written
}

type Ways = {
  readonly [P in Part]: {
    readonly out: (context: Context, page: Page<P>) => Promise<TransferredParts[P][]>
    readonly in: (context: Context, items: readonly TransferredParts[P][]) => Promise<number>
  }
}

const WAYS: Ways = {
  jobs: { out: jobsOut, in: jobsIn },
  keys: {
    out: (context, page) => ask(context, keysAfter(page), page.after ?? {}),
    in: (context, keys) => writeItems(context, KEYS_IN, keys),
  },
  ticks: {
    out: (context, page) => ask(context, ticksAfter(page), page.after ?? {}),
    in: (context, ticks) => writeItems(context, TICKS_IN, ticks),
  },
}

export function transfer(run: <T>(verb: (context: Context) => Promise<T>) => Promise<T>): Transfer {
  return {
    identity: () => run(identity),
    exportIds: (page) => run((context) => idsOut(context, page)),
    exportItems: (part, page) => run((context) => WAYS[part].out(context, page)),
    importItems: (part, items) => run((context) => WAYS[part].in(context, items)),
    exportRest: () => run(restOut),
    importRest: (rest) => run((context) => restIn(context, rest)),
    otherTables: () => run((context) => ask(context, OTHER_TABLES)),
  }
}
