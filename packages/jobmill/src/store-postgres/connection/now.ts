/** The server's current time. */
import type { Query } from './connection.ts'
import { type Context, run } from '../context.ts'
import { GIVEN_CTE, NOW } from '../fragments.ts'

const READ_CLOCK = `WITH ${GIVEN_CTE} SELECT ${NOW} AS now`

export async function now(context: Context, query: Query = context.connection.query): Promise<number> {
  const [row] = await run(context, query, READ_CLOCK, '')
  return row?.['now'] as number
}
