/**
 * Acquires from limits in a short transaction of two statements: one locks and reads everything it needs, the
 * other writes all changes. job/limit/budget.ts has the arithmetic.
 */
import { answer, type BudgetState } from '../../job/limit/budget.ts'
import { budgetId } from '../../job/limit/limit.ts'
import type { AcquireRequest, Acquired } from '../../store/types/limit.ts'
import type { Row } from '../connection/connection.ts'
import { unpackMissing } from '../claim/unpack.ts'
import { ask, columnsOf, type Context, inTransaction, listOf } from '../context.ts'
import { GIVEN_CTE, HAS_PERMIT, NOW, NOW_AGAIN } from '../fragments.ts'
import { makeKeys } from './limit-keys.ts'
import { LIMIT_COLUMNS, type LockedLimit, lockedOf, permitsOut, STATES_WRITTEN } from './limit-rows.ts'

/**
 * Uses primary keys. `sought` are the items that need a permit according to this snapshot. `locked` locks in
 * the order of the names and keys to avoid deadlocks. Its condition forces the locks on jobs and instances to
 * come first. An open transaction may be finishing such a job, and then only this call must wait for it,
 * without holding limits. Only their holders write waiter rows, so the snapshot is recent enough for them.
 * The row of a per-key limit itself is never acquired from.
 */
const LOCK = `
WITH ${GIVEN_CTE}, input AS MATERIALIZED (
  SELECT x.* FROM given, json_to_recordset(p -> 'items') AS x(limit_name text, key text, holder uuid, instance uuid, token int8)
), sought AS MATERIALIZED (
  SELECT i.* FROM input AS i JOIN jobmill.limit AS l ON l.name = i.limit_name AND l.key = i.key WHERE l.most IS NOT NULL
), job AS MATERIALIZED (
  SELECT r.id, r.token FROM jobmill.running AS r
   WHERE r.id = ANY (ARRAY(SELECT holder FROM sought WHERE token IS NOT NULL)) ORDER BY r.id FOR NO KEY UPDATE
), living AS MATERIALIZED (
  SELECT i.id FROM jobmill.instance AS i
   WHERE i.id = ANY (ARRAY(SELECT instance FROM sought WHERE token IS NULL)) AND i.ended_at IS NULL AND i.expires_at > ${NOW}
   ORDER BY i.id FOR SHARE
), locked AS MATERIALIZED (
  SELECT l.* FROM (SELECT DISTINCT limit_name, key FROM input ORDER BY limit_name, key) AS i CROSS JOIN LATERAL (
    SELECT l.* FROM jobmill.limit AS l WHERE l.name = i.limit_name AND l.key = i.key
       AND NOT l.per_key AND (SELECT count(*) FROM job) + (SELECT count(*) FROM living) >= 0 FOR UPDATE) AS l
)
SELECT ${LIMIT_COLUMNS}, ${NOW_AGAIN} AS now, l.key = '' AND l.name = ANY (ARRAY(SELECT limit_name FROM sought)) AS was_sought,
       (SELECT json_agg(json_build_array(j.id, j.token)) FROM job AS j) AS jobs,
       (SELECT json_agg(v.id) FROM living AS v) AS living,
       (SELECT json_agg(t.holder) FROM jobmill.limit_waiter AS t
         WHERE t.limit_name = l.name AND t.key = l.key AND t.holder = ANY (ARRAY(SELECT holder FROM input))) AS places
  FROM locked AS l, given`

/**
 * Uses primary keys, under the locks. The amount of a permit from an earlier attempt is replaced, not added
 * to.
 */
const WRITE = `
WITH ${GIVEN_CTE}, state AS (
  ${STATES_WRITTEN}
), left_line AS (
  DELETE FROM jobmill.limit_waiter AS t USING given, json_to_recordset(p -> 'left') AS x(limit_name text, key text, holder uuid)
   WHERE t.limit_name = x.limit_name AND t.key = x.key AND t.holder = x.holder
), in_order_queue AS (
  INSERT INTO jobmill.limit_waiter (limit_name, key, holder, taken_at)
  SELECT x.limit_name, x.key, x.holder, ${NOW} FROM given, json_to_recordset(p -> 'placed') AS x(limit_name text, key text, holder uuid)
  ON CONFLICT (limit_name, key, holder) DO UPDATE SET taken_at = excluded.taken_at
), permit AS MATERIALIZED (
  SELECT x.* FROM given, json_to_recordset(p -> 'permits')
    AS x(limit_name text, holder uuid, instance uuid, token int8, amount int4)
), permitted AS (
  INSERT INTO jobmill.permit AS t (limit_name, holder, instance, token, amount) SELECT * FROM permit
  ON CONFLICT (limit_name, holder) DO UPDATE SET instance = excluded.instance, token = excluded.token,
     amount = excluded.amount + CASE WHEN t.token IS NOT DISTINCT FROM excluded.token THEN t.amount ELSE 0 END
)
UPDATE jobmill.running AS r SET flags = r.flags | ${HAS_PERMIT}
 WHERE r.id = ANY (ARRAY(SELECT holder FROM permit WHERE token IS NOT NULL)) AND r.flags & ${HAS_PERMIT} = 0`

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
  const answers = await acquireAll(context, items)
  const stale = items.filter((_, at) => answers[at]?.outcome === 'stale')
  if (!(await unpackMissing(context, context.connection.query, leasesOf(stale)))) return answers
  const again = (await acquireAll(context, stale))[Symbol.iterator]()
  return answers.map((reply) => (reply.outcome === 'stale' ? (again.next().value as Acquired) : reply))
}

function leasesOf(items: readonly AcquireRequest[]): { id: string; token: number }[] {
  return items.flatMap(({ holder, token }) => (token === null ? [] : { id: holder, token }))
}

async function acquireAll(context: Context, items: readonly AcquireRequest[]): Promise<Acquired[]> {
  const refused = new Map<AcquireRequest, Acquired>()
  for (;;) {
    const open = items.filter((item) => !refused.has(item))
    if (open.length === 0) return items.flatMap((item) => refused.get(item) ?? [])
    const { acquired, missing = [] } = await inTransaction(context, (inside) => acquireOnce(inside, open))
    if (acquired !== undefined) {
      const answers = acquired[Symbol.iterator]()
      return items.map((item) => refused.get(item) ?? (answers.next().value as Acquired))
    }
    if (missing.length > 0) for (const [item, why] of await makeKeys(context, missing)) refused.set(item, why)
  }
}

/** Without `acquired`, try again: key rows are missing, or the type of a limit changed before the lock. */
interface Tried {
  readonly acquired?: readonly Acquired[]
  readonly missing?: readonly AcquireRequest[]
}

async function acquireOnce(inside: Context, items: readonly AcquireRequest[]): Promise<Tried> {
  const asked = items.map(({ limit: limit_name, key = '', ...item }) => ({ ...item, limit_name, key }))
  const rows = await ask(inside, LOCK, { items: asked })
  const limits = rows.map(lockedOf)
  if (limits.some(({ settings }, at) => (settings.type === 'concurrency') !== rows[at]?.['was_sought']))
    return {}
  const out = await permitsOut(inside, limits)
  const draws = new Map(
    limits.map((limit, at): [string, Draw] => {
      const { name, key, state } = limit
      const held = out.get(name) ?? 0
      const places = new Set(listOf<string>(rows[at]?.['places']))
      const draw = { limit, state, held, places, placed: new Set<string>(), left: new Set<string>() }
      return [budgetId(name, key), { ...draw, permits: new Map() }]
    }),
  )
  const drawn = items.map((item) => ({ item, draw: draws.get(budgetId(item.limit, item.key)) }))
  const missing = drawn.flatMap(({ item, draw }) => (draw === undefined ? item : []))
  if (missing.length > 0) return { missing }
  const isCurrent = currentHolders(rows[0])
  const acquired = drawn.flatMap(({ item, draw }) =>
    draw === undefined ? [] : answerOne(item, draw, isCurrent),
  )
  await write(inside, [...draws.values()])
  return { acquired }
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

async function write(inside: Context, draws: readonly Draw[]): Promise<void> {
  const fields = {
    states: draws.flatMap(({ limit: { name, key, state: before }, state }) =>
      state === before ? [] : [{ name, key, ...columnsOf(state) }],
    ),
    left: draws.flatMap(({ limit, left }) => waiterRows(limit, left)),
    placed: draws.flatMap(({ limit, placed }) => waiterRows(limit, placed)),
    permits: draws.flatMap(({ permits }) =>
      [...permits.values()].map(({ limit: limit_name, ...permit }) => ({ limit_name, ...permit })),
    ),
  }
  if (Object.values(fields).some((changes) => changes.length > 0)) await ask(inside, WRITE, fields)
}

function waiterRows({ name, key }: LockedLimit, holders: Iterable<string>): object[] {
  return [...holders].map((holder) => ({ limit_name: name, key, holder }))
}
