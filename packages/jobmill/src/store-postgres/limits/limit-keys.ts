/**
 * The budgets of per-key limits. Each key has a row next to its limit's row, created on first use and deleted
 * once its budget is full.
 */
import { changeBudget } from '../../job/limit/budget.ts'
import { isPerKey, type LimitSettings } from '../../job/limit/limit.ts'
import { KEYS_MOST, type AcquireRequest, type Acquired } from '../../store/types/limit.ts'
import { ask, askOne, askWith, columnsOf, type Context } from '../context.ts'
import { GIVEN_CTE, NOW, NOW_AGAIN } from '../fragments.ts'
import { LIMIT_COLUMNS, type LockedLimit, lockedOf, settingsColumns } from './limit-rows.ts'

/** How many key rows one statement changes. */
const PAGE = 1_000

const NAME = `(SELECT p ->> 'name' FROM given)`

/**
 * Rows `k` of a limit's keys, in the order of the keys. The condition is a range of the primary key instead
 * of an equality. If one limit has most of the keys, the planner would answer an equality with a scan of the
 * whole table.
 */
const ofLimit = (name: string, after = `''`): string =>
  `k.name >= ${name} AND k.name <= ${name} AND k.key > ${after}`
const BY_KEY = 'ORDER BY k.name, k.key'

/** The number of keys of the limit `l`. Null if it is not per key. */
export const KEYS = `CASE WHEN l.per_key THEN (
  SELECT count(*)::int4 FROM (SELECT FROM jobmill.limit AS k WHERE ${ofLimit('l.name')} ${BY_KEY} LIMIT ${KEYS_MOST}) AS k) END`

/** Deletes all keys of the limits in `named(name)`. */
export const deleteKeysOf = (named: string): string => `
  DELETE FROM jobmill.limit WHERE name = ANY (ARRAY(SELECT name FROM ${named})) AND key = ANY (ARRAY(
    SELECT k.key FROM ${named} AS l CROSS JOIN LATERAL (
      SELECT k.key FROM jobmill.limit AS k WHERE ${ofLimit('l.name')} ${BY_KEY}) AS k))`

const KEYS_OF = `SELECT ${KEYS} AS keys FROM jobmill.limit AS l WHERE l.name = $1 AND l.key = ''`

/**
 * Uses primary keys. Must not run in a transaction that has other limits locked, because two of these could
 * deadlock. The shared lock on the limit lasts until the rows exist, so that an exclusive change or deletion
 * sees all keys. Concurrent calls insert in the order of the keys, and the second finds the rows of the
 * first.
 */
const MAKE = `
WITH ${GIVEN_CTE}, input AS MATERIALIZED (
  SELECT DISTINCT x.limit_name, x.key FROM given, json_to_recordset(p -> 'items') AS x(limit_name text, key text)
), parent AS MATERIALIZED (
  SELECT l.name, l.amount, l.per_ms, l.burst, l.per_key AND l.most IS NULL AS per_key FROM jobmill.limit AS l
   WHERE l.name = ANY (ARRAY(SELECT limit_name FROM input)) AND l.key = '' ORDER BY l.name FOR SHARE
), made AS (
  INSERT INTO jobmill.limit (name, key, amount, per_ms, burst)
  SELECT l.name, i.key, l.amount, l.per_ms, l.burst FROM parent AS l JOIN input AS i ON i.limit_name = l.name
   WHERE l.per_key AND i.key IS NOT NULL ORDER BY l.name, i.key
  ON CONFLICT (name, key) DO NOTHING
)
SELECT name, per_key FROM parent`

/** Creates missing key rows. Returns an answer for each item with an unknown limit or a wrong key. */
export async function makeKeys<T extends Pick<AcquireRequest, 'limit' | 'key'>>(
  context: Context,
  items: readonly T[],
): Promise<Map<T, Acquired>> {
  const asked = items.map(({ limit, key = null }) => ({ limit_name: limit, key }))
  const rows = await ask<{ name: string; per_key: boolean }>(context, MAKE, { items: asked })
  const found = new Map(rows.map(({ name, per_key: perKey }) => [name, perKey]))
  const refused = new Map<T, Acquired>()
  for (const item of items) {
    const perKey = found.get(item.limit)
    if (perKey === undefined) refused.set(item, { outcome: 'unknown' })
    else if (perKey !== (item.key !== undefined)) refused.set(item, { outcome: 'wrong-key', perKey })
  }
  return refused
}

/**
 * Uses the primary key, under the lock of the limit, so that no keys are added. Locks in the order of the
 * keys, like every lock of several keys.
 */
const LOCK_SOME = `
WITH ${GIVEN_CTE}, locked AS MATERIALIZED (
  SELECT k.* FROM jobmill.limit AS k WHERE ${ofLimit(NAME, `(SELECT p ->> 'after' FROM given)`)}
   ${BY_KEY} LIMIT ${PAGE} FOR UPDATE
)
SELECT ${LIMIT_COLUMNS}, ${NOW_AGAIN} AS now FROM locked AS l, given`

/**
 * Use the primary key; the rows are locked. The statement that then changes or deletes the limit also deletes
 * the requests that wait for its keys.
 */
const CHANGE_SOME = `
WITH ${GIVEN_CTE}
UPDATE jobmill.limit AS l SET amount = x.amount, per_ms = x.per_ms, burst = x.burst,
       paid_at = x.paid_at, reserved_until = x.reserved_until, drained_until = x.drained_until, look_at = 0
  FROM given, json_to_recordset(p -> 'keys') AS x(key text, amount int4, per_ms int8, burst int4,
                                                  paid_at float8, reserved_until float8, drained_until float8)
 WHERE l.name = ${NAME} AND l.key = x.key`
const DELETE_SOME = `
WITH ${GIVEN_CTE}
DELETE FROM jobmill.limit WHERE name = ${NAME}
   AND key = ANY (ARRAY(SELECT x.key FROM given, json_to_recordset(p -> 'keys') AS x(key text)))`

/** Tokens granted to each key stay granted, as with a change of the limit. The limit is locked. */
export async function changeKeys(inside: Context, limit: string, settings: LimitSettings): Promise<void> {
  const columns = settingsColumns(settings)
  await eachPage(inside, limit, CHANGE_SOME, ({ key, settings: before, state, now }) => ({
    key,
    ...columns,
    ...columnsOf(changeBudget(before, settings, state, now)),
  }))
}

export async function deleteKeys(inside: Context, limit: string): Promise<void> {
  await eachPage(inside, limit, DELETE_SOME, ({ key }) => ({ key }))
}

async function eachPage(
  inside: Context,
  name: string,
  statement: string,
  rowOf: (key: LockedLimit) => object,
): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined;) {
    const keys: LockedLimit[] = (await ask(inside, LOCK_SOME, { name, after })).map(lockedOf)
    if (keys.length > 0) await ask(inside, statement, { name, keys: keys.map(rowOf) })
    // Rows may have been deleted while the statement waited for locks, so only an empty page is the end.
    after = keys.at(-1)?.key
  }
}

export async function keysOf(
  context: Context,
  { name, settings }: { readonly name: string; readonly settings: LimitSettings },
): Promise<number | null> {
  if (!isPerKey(settings)) return null
  const [row] = await askWith<{ keys: number }>(context, KEYS_OF, [name])
  return row?.keys ?? 0
}

/**
 * Deletes keys whose budget is full again, which equals an unused key. Uses limit_look. Rows that are not
 * full get the time when they would be, so that a pass reads each row once. A key with waiting requests is
 * kept. SKIP LOCKED skips a key in use by a concurrent acquire; a later acquire recreates a deleted key.
 */
const retainStatement = (limit: number): string => `
WITH ${GIVEN_CTE}, looked AS MATERIALIZED (
  SELECT l.ctid AS tid, greatest(l.paid_at, l.reserved_until, l.drained_until) > ${NOW} AS in_use FROM jobmill.limit AS l
   WHERE l.key <> '' AND l.look_at <= ${NOW}
     AND (SELECT true FROM jobmill.limit_waiter AS t WHERE t.limit_name = l.name AND t.key = l.key ORDER BY t.holder LIMIT 1) IS NULL
   ORDER BY l.look_at LIMIT ${limit} FOR UPDATE OF l SKIP LOCKED
), gone AS (
  DELETE FROM jobmill.limit WHERE ctid = ANY (ARRAY(SELECT tid FROM looked WHERE NOT in_use))
), kept AS (
  UPDATE jobmill.limit SET look_at = ceil(greatest(paid_at, reserved_until, drained_until))::int8
   WHERE ctid = ANY (ARRAY(SELECT tid FROM looked WHERE in_use))
)
SELECT count(*)::int4 AS looked FROM looked`

/** Returns how many rows it read. */
export async function retainKeys(context: Context, limit: number): Promise<number> {
  return (await askOne<{ looked: number }>(context, retainStatement(limit))).looked
}
