/** Which database this is, whatever address led here. */
import { type Context, run } from '../context.ts'
import { GIVEN } from '../fragments.ts'

/** One server was started at one moment, to the microsecond; a table has one number in its database. */
const IDENTITY = `
WITH ${GIVEN}
SELECT concat_ws(' ', 'postgres', pg_postmaster_start_time(), (SELECT oid FROM pg_database WHERE datname = current_database()),
                 'jobmill.migration'::regclass::oid) AS identity FROM given`

export async function identity(context: Context): Promise<string> {
  const [row] = await run(context, context.connection.query, IDENTITY, '')
  return String(row?.['identity'])
}
