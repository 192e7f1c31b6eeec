/**
 * Claims from queues with a limit. Locks the row of the limit, claims no more than its budget, and spends
 * what was claimed.
 */
import { available, afterSpending } from '../../job/limit/budget.ts'
import { type Context, inTransaction } from '../context.ts'
import { lockLimits, permitsOut, writeStates } from '../limits/limit-rows.ts'
import { type Call, claimOnce, type Reply } from './claim-once.ts'
import type { LimitedQueue } from './limited.ts'
import { fullLook } from './scan-cursors.ts'

/** Claims at most `call.limit` jobs, queue by queue. */
export async function claimLimited(
  context: Context,
  call: Call,
  limited: readonly LimitedQueue[],
): Promise<readonly Reply[]> {
  const isScan = call.quarantined === 'skip'
  const open = limited.filter((one) => one.available > 0 && (isScan ? one.ready : one.quarantined))
  if (open.length === 0) return []
  return inTransaction(context, async (inside) => {
    const limits = await lockLimits(inside, new Set(open.map(({ limit }) => limit.name)))
    const held = await permitsOut(inside, limits.values())
    const replies: Reply[] = []
    const changed = new Set<string>()
    let left = call.limit
    for (const { queue, limit: seen } of open) {
      const limit = limits.get(seen.name)
      if (limit === undefined) continue
      const { name, settings, state, now } = limit
      const out = held.get(name) ?? 0
      const budget = available(settings, state, { now, held: out })
      const most = Math.min(call.rooms.get(queue) ?? 0, budget, left)
      if (most === 0) continue
      const rooms = new Map([[queue, most]])
      const looks = new Map(isScan ? [[queue, fullLook(queue)]] : [])
      const inLimit = { name, hasPermits: settings.type === 'concurrency' }
      const own = { ...call, limit: most, rooms, looks, inLimit }
      const reply = await claimOnce(inside, own, inside.connection.tuples)
      const taken = reply.rows.length
      if (taken === 0) continue
      replies.push(reply)
      left -= taken
      held.set(name, out + taken)
      limits.set(name, { ...limit, state: afterSpending(settings, state, taken, now) })
      if (settings.type === 'rate') changed.add(name)
    }
    const spent = [...limits.values()].filter(({ name }) => changed.has(name))
    await writeStates(inside, spent)
    return replies
  })
}
