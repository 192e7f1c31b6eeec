/** Identifies the database, independent of its address. */
import { type Context, run } from '../context.ts'
import { GIVEN_CTE } from '../fragments.ts'

/** The start time of the server to the microsecond, and the ids of the database and of a table in it. */
const IDENTITY = `
WITH ${GIVEN_CTE}
SELECT concat_ws(' ', 'postgres', pg_postmaster_start_time(), (SELECT oid FROM pg_database WHERE datname = current_database()),
                 'jobmill.migration'::regclass::oid) AS identity FROM given`

export async function identity(context: Context): Promise<string> {
  const [row] = await run(context, context.connection.query, IDENTITY, '')
  return String(row?.['identity'])
}
