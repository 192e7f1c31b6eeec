/** The server's current time. */
import { askOne, type Context } from '../context.ts'
import { GIVEN_CTE, NOW } from '../fragments.ts'

const READ_CLOCK = `WITH ${GIVEN_CTE} SELECT ${NOW} AS now`

export async function now(context: Context): Promise<number> {
  return (await askOne<{ now: number }>(context, READ_CLOCK)).now
}
