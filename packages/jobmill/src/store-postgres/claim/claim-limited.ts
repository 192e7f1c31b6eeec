/**
 * Claims from queues with a limit. Locks the row of the limit, claims no more than its budget, and spends
 * what was claimed.
 */
import { available, afterSpending } from '../../job/limit/budget.ts'
import type { ClaimRequest } from '../../store/types/claim.ts'
import { claimFields, claimStatement, leaseRows } from './claim-statement.ts'
import type { Query, Row } from '../connection/connection.ts'
import { type Context, run } from '../context.ts'
import { type LockedLimit, lockLimits, permitsOut, writeStates } from '../limits/limit-rows.ts'

interface LimitedRoom {
  readonly queue: string
  readonly room: number
  readonly limit: string
}

/** Claims at most `request.limit` jobs, queue by queue. Returns the rows unsorted. */
export function claimLimited(
  context: Context,
  request: ClaimRequest,
  rooms: readonly LimitedRoom[],
): Promise<Row[]> {
  return context.connection.transaction(async (query) => {
    const limits = await lockLimits(context, query, new Set(rooms.map(({ limit }) => limit)))
    const held = await permitsOut(context, query, limits.values())
    const rows: Row[] = []
    const changed = new Set<string>()
    for (const { queue, room, limit: name } of rooms) {
      const limit = limits.get(name)
      if (limit === undefined) continue
      const { settings, state, now } = limit
      const out = held.get(name) ?? 0
      const most = Math.min(room, available(settings, state, { now, held: out }), request.limit - rows.length)
      if (most === 0) continue
      const taken = await claimSome(context, query, request, { queue, limit, most })
      if (taken.length === 0) continue
      rows.push(...taken)
      held.set(name, out + taken.length)
      limits.set(name, { ...limit, state: afterSpending(settings, state, taken.length, now) })
      if (settings.type === 'rate') changed.add(name)
    }
    await writeStates(
      context,
      query,
      [...limits.values()].filter(({ name }) => changed.has(name)),
    )
    return rows
  })
}

async function claimSome(
  context: Context,
  query: Query,
  request: ClaimRequest,
  from: { readonly queue: string; readonly limit: LockedLimit; readonly most: number },
): Promise<readonly Row[]> {
  const { queue, limit, most } = from
  const part = limit.settings.type === 'concurrency' ? 'permits' : 'budget'
  const fields = claimFields(request, [{ queue, room: most }], limit.name)
  return leaseRows(
    await run(context, query, claimStatement(context, most, request.quarantined, part), fields),
  )
}
