/**
 * Acquires from limits in a short transaction that locks the limit rows. job/limit/budget.ts has the
 * arithmetic.
 */
import { answer, type BudgetState } from '../../job/limit/budget.ts'
import { budgetId } from '../../job/limit/limit.ts'
import type { AcquireRequest, Acquired } from '../../store/types/limit.ts'
import type { Query, Row } from '../connection/connection.ts'
import { type Context, listOf, run } from '../context.ts'
import { makeKeys } from './limit-keys.ts'
import { limitOf, type LockedLimit, permitsOut, stateColumns } from './limit-rows.ts'
import { LOCK_ACQUIRE, WRITE_ACQUIRE } from './acquire-statement.ts'

/** One limit while its items are answered, with the changes to write. */
interface Draw {
  readonly limit: LockedLimit
  state: BudgetState
  held: number
  /**
   * `places`: holders of this call in the queue of the limit. `placed`: those that joined now. `left`: those
   * that left.
   */
  readonly places: Set<string>
  readonly placed: Set<string>
  readonly left: Set<string>
  readonly permits: Map<string, AcquireRequest>
}

export async function acquire(context: Context, items: readonly AcquireRequest[]): Promise<Acquired[]> {
  if (items.length === 0) return []
  const refused = new Map<AcquireRequest, Acquired>()
  for (;;) {
    const open = items.filter((item) => !refused.has(item))
    const { acquired, missing } = await tryOnce(context, open)
    if (acquired !== null) {
      const answers = acquired[Symbol.iterator]()
      return items.map((item) => refused.get(item) ?? (answers.next().value as Acquired))
    }
    if (missing.length > 0) for (const [item, why] of await makeKeys(context, missing)) refused.set(item, why)
  }
}

/**
 * `acquired: null` means to try again: key rows are missing, or the type of a limit changed between the read
 * and the lock.
 */
interface Tried {
  readonly acquired: readonly Acquired[] | null
  readonly missing: readonly AcquireRequest[]
}

async function tryOnce(context: Context, items: readonly AcquireRequest[]): Promise<Tried> {
  if (items.length === 0) return { acquired: [], missing: [] }
  return context.connection.transaction((query) => acquireOnce(context, query, items))
}

async function acquireOnce(context: Context, query: Query, items: readonly AcquireRequest[]): Promise<Tried> {
  const asked = items.map(({ limit, key = '', holder, instance, token }) => ({
    limit_name: limit,
    key,
    holder,
    instance,
    token,
  }))
  const rows = await run(context, query, LOCK_ACQUIRE, `"items":${JSON.stringify(asked)}`)
  const limits = rows.map((row) => ({ ...limitOf(row), now: row['now'] as number }))
  if (limits.some(({ settings }, at) => (settings.type === 'concurrency') !== rows[at]?.['was_sought']))
    return { acquired: null, missing: [] }
  const held = await permitsOut(context, query, limits)
  const draws = new Map(
    limits.map((limit, at) => [
      budgetId(limit.name, limit.key),
      drawOf(limit, rows[at]?.['places'], held.get(limit.name) ?? 0),
    ]),
  )
  const drawn = items.map((item) => ({ item, draw: draws.get(budgetId(item.limit, item.key)) }))
  const missing = drawn.flatMap(({ item, draw }) => (draw === undefined ? item : []))
  if (missing.length > 0) return { acquired: null, missing }
  const isCurrent = currentHolders(rows[0])
  const acquired = drawn.flatMap(({ item, draw }) =>
    draw === undefined ? [] : answerOne(item, draw, isCurrent),
  )
  await write(context, query, [...draws.values()])
  return { acquired, missing }
}

function drawOf(limit: LockedLimit, places: unknown, held: number): Draw {
  return {
    limit,
    state: limit.state,
    held,
    places: new Set(listOf<string>(places)),
    placed: new Set(),
    left: new Set(),
    permits: new Map(),
  }
}

/**
 * A job is a current holder while it runs under its token; other code, while its instance is alive. Every
 * row has the same two lists.
 */
function currentHolders(row: Row | undefined): (item: AcquireRequest) => boolean {
  const jobs = new Map(listOf<[string, number]>(row?.['jobs']))
  const alive = new Set(listOf<string>(row?.['living']))
  return ({ holder, instance, token }) => (token === null ? alive.has(instance) : jobs.get(holder) === token)
}

function answerOne(item: AcquireRequest, draw: Draw, isCurrent: (item: AcquireRequest) => boolean): Acquired {
  const { settings, now } = draw.limit
  if (settings.type === 'concurrency' && !isCurrent(item)) return { outcome: 'stale' }
  const { amount, waitUpToMs, holder } = item
  const ask = { amount, waitUpToMs, hasPlace: draw.places.has(holder) }
  const { state, answers } = answer(settings, draw.state, [ask], { now, held: draw.held })
  const [reply] = answers
  if (reply === undefined) throw new RangeError('an acquire request got no answer')
  draw.state = state
  if (reply.outcome === 'later') {
    if (reply.takesPlace) joinQueue(draw, holder)
    return { outcome: 'later', inMs: reply.inMs }
  }
  if (reply.outcome === 'granted') grant(draw, item)
  return reply
}

function joinQueue({ places, placed, left }: Draw, holder: string): void {
  places.add(holder)
  placed.add(holder)
  left.delete(holder)
}

function grant(draw: Draw, item: AcquireRequest): void {
  const { limit, places, placed, left, permits } = draw
  if (places.delete(item.holder)) left.add(item.holder)
  placed.delete(item.holder)
  if (limit.settings.type === 'rate') return
  const before = permits.get(item.holder)?.amount ?? 0
  permits.set(item.holder, { ...item, amount: before + item.amount })
  draw.held += item.amount
}

async function write(context: Context, query: Query, draws: readonly Draw[]): Promise<void> {
  const fields = {
    states: draws.flatMap(({ limit, state }) =>
      state === limit.state ? [] : [{ name: limit.name, key: limit.key, ...stateColumns(state) }],
    ),
    left: draws.flatMap(({ limit, left }) => waiterRows(limit, left)),
    placed: draws.flatMap(({ limit, placed }) => waiterRows(limit, placed)),
    permits: draws.flatMap(({ limit, permits }) =>
      [...permits.values()].map(({ holder, instance, token, amount }) => ({
        limit_name: limit.name,
        holder,
        instance,
        token,
        amount,
      })),
    ),
  }
  if (Object.values(fields).every((changes) => changes.length === 0)) return
  await run(context, query, WRITE_ACQUIRE, JSON.stringify(fields).slice(1, -1))
}

function waiterRows({ name, key }: LockedLimit, holders: Iterable<string>): object[] {
  return [...holders].map((holder) => ({ limit_name: name, key, holder }))
}
