/** The server's now. */
import { type Context, run } from './context.ts'
import { GIVEN, NOW } from './fragments.ts'

const READ_CLOCK = `WITH ${GIVEN} SELECT ${NOW} AS now`

export async function now(context: Context): Promise<number> {
  const [row] = await run(context, context.connection.query, READ_CLOCK, '')
  return row?.['now'] as number
}
