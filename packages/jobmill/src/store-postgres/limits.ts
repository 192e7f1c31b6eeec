/** Limits: creating, changing and deleting them, and what they have at the moment. */
import { available, changed, drained, EMPTY_BUDGET, nextInMs } from '../job/budget.ts'
import { isPerKey, keyedName, type LimitSettings } from '../job/limit.ts'
import { limitInUse, limitUnknown, perKeyFixed, wrongKey } from '../store/cluster-errors.ts'
import type { LimitRecord } from '../store/limit.ts'
import type { Query } from './connection.ts'
import { type Context, run } from './context.ts'
import { GIVEN, SETTINGS_CHANGED } from './fragments.ts'
import { changeKeys, deleteKeys, keyNames, KEYS, keysOf, makeKeys } from './limit-keys.ts'
import {
  HELD,
  LIMIT_COLUMNS,
  limitOf,
  type LimitRow,
  type LockedLimit,
  lockLimits,
  permitsOut,
  settingsColumns,
  stateColumns,
  writeStates,
} from './limit-rows.ts'

/** What is there stays as it is: an operator may have changed it. Keys can be left behind by a process of an earlier release that deleted the limit. */
const DECLARE = `
WITH ${GIVEN}, added AS (
  INSERT INTO jobmill.limit (name, amount, per_ms, burst, most, per_key)
  SELECT x.name, x.amount, x.per_ms, x.burst, x.most, x.per_key
    FROM given, json_to_recordset(p -> 'limits') AS x(name text, amount int4, per_ms int8, burst int4, most int4, per_key bool)
   WHERE NOT EXISTS (SELECT FROM jobmill.limit AS l WHERE l.name = x.name) ORDER BY x.name
  ON CONFLICT (name) DO NOTHING RETURNING name
), left_behind AS (
  DELETE FROM jobmill.limit WHERE name = ANY (ARRAY(${keyNames('added')}))
)
${SETTINGS_CHANGED} WHERE EXISTS (SELECT FROM added)`

/** By primary keys; the row is locked already. */
const CHANGE = `
WITH ${GIVEN}, written AS (
  UPDATE jobmill.limit AS l SET amount = x.amount, per_ms = x.per_ms, burst = x.burst, most = x.most, per_key = x.per_key,
         paid_at = x.paid_at, line_at = x.line_at, drained_until = x.drained_until
    FROM given, json_to_record(p -> 'limit') AS x(name text, amount int4, per_ms int8, burst int4, most int4, per_key bool,
                                                  paid_at float8, line_at float8, drained_until float8)
   WHERE l.name = x.name
), forgotten AS (
  DELETE FROM jobmill.place WHERE limit_name = (SELECT p -> 'limit' ->> 'name' FROM given)
)
${SETTINGS_CHANGED}`

/** A statement of its own, after the lock: whoever wrote a queue with this limit had to lock it too. */
const NAMED_BY = `
SELECT name FROM jobmill.queue WHERE limit_name = $1 ORDER BY name COLLATE "C"`

const DELETE = `
WITH ${GIVEN}, name AS MATERIALIZED (
  SELECT p ->> 'name' AS name FROM given
), permits AS (
  DELETE FROM jobmill.permit WHERE limit_name = (SELECT name FROM name)
), places AS (
  DELETE FROM jobmill.place WHERE limit_name = (SELECT name FROM name)
), gone AS (
  DELETE FROM jobmill.limit WHERE name = (SELECT name FROM name)
)
${SETTINGS_CHANGED}`

/** By limit_own: there may be far more keys than limits. */
const LIMITS = `
WITH ${GIVEN}
SELECT ${LIMIT_COLUMNS}, ${HELD} AS held, ${KEYS} AS keys, g.now FROM given AS g, jobmill.limit AS l
 WHERE l.parent IS NULL ORDER BY l.name COLLATE "C"`

export async function declareLimits(
  context: Context,
  limits: readonly { readonly name: string; readonly settings: LimitSettings }[],
): Promise<void> {
  if (limits.length === 0) return
  // Of two with one name the first creates it, and the second changes nothing.
  const byName = new Map(limits.toReversed().map((limit) => [limit.name, limit]))
  const rows = [...byName.values()].map(({ name, settings }) => ({ name, ...settingsColumns(settings) }))
  await run(context, context.connection.query, DECLARE, `"limits":${JSON.stringify(rows)}`)
}

export async function changeLimit(
  context: Context,
  name: string,
  settings: LimitSettings,
): Promise<LimitRecord> {
  const [record, queues] = await withLimit(context, name, async (query, before) => {
    const perKey = isPerKey(before.settings)
    if (isPerKey(settings) !== perKey) throw perKeyFixed(name, perKey)
    if (perKey) await changeKeys(context, query, name, settings)
    const state = changed(before.settings, settings, before.state, before.now)
    const row = { name, ...settingsColumns(settings), ...stateColumns(state) }
    await run(context, query, CHANGE, `"limit":${JSON.stringify(row)}`)
    const after = { ...before, settings, state }
    return [await recordNow(context, query, after), await queuesOf(context, query, name)] as const
  })
  // There may be more to have than before.
  context.ring(queues.map((queue) => ({ queue, jobs: null })))
  return record
}

export async function deleteLimit(context: Context, name: string): Promise<boolean> {
  return context.connection.transaction(async (query) => {
    const limit = (await lockLimits(context, query, [name])).get(name)
    if (limit === undefined) return false
    const [queue] = await queuesOf(context, query, name)
    if (queue !== undefined) throw limitInUse(name, queue)
    if (isPerKey(limit.settings)) await deleteKeys(context, query, name)
    await run(context, query, DELETE, `"name":${JSON.stringify(name)}`)
    return true
  })
}

export async function drain(
  context: Context,
  name: string,
  forMs: number,
  key?: string,
): Promise<LimitRecord> {
  for (;;) {
    const record = await context.connection.transaction((query) =>
      drainOnce(context, query, { name, key }, forMs),
    )
    if (record !== null) return record
    const [refused] = (await makeKeys(context, [{ limit: name, key }])).values()
    if (refused?.outcome === 'unknown') throw limitUnknown(name)
    if (refused?.outcome === 'wrong-key') throw wrongKey(name, refused.perKey)
  }
}

/** Null when there is no such row, or it is one that is not drawn on. */
async function drainOnce(
  context: Context,
  query: Query,
  { name, key }: { readonly name: string; readonly key: string | undefined },
  forMs: number,
): Promise<LimitRecord | null> {
  const full = keyedName(name, key)
  const before = (await lockLimits(context, query, [full])).get(full)
  if (before === undefined || isPerKey(before.settings)) return null
  const after = { ...before, state: drained(before.settings, before.state, forMs, before.now) }
  await writeStates(context, query, [after])
  const record = await recordNow(context, query, after)
  if (key === undefined || record.settings.type !== 'rate') return record
  const settings = { ...record.settings, perKey: true as const }
  return { ...record, name, settings, keys: await keysOf(context, query, { name, settings }) }
}

export async function limits(context: Context): Promise<LimitRecord[]> {
  const rows = await run(context, context.connection.query, LIMITS, '')
  return rows.map((row) =>
    recordOf(limitOf(row), {
      now: row['now'] as number,
      held: row['held'] as number,
      keys: row['keys'] as number | null,
    }),
  )
}

function withLimit<T>(
  context: Context,
  name: string,
  work: (query: Query, limit: LockedLimit) => Promise<T>,
): Promise<T> {
  return context.connection.transaction(async (query) => {
    const limit = (await lockLimits(context, query, [name])).get(name)
    if (limit === undefined) throw limitUnknown(name)
    return work(query, limit)
  })
}

async function queuesOf(context: Context, query: Query, limit: string): Promise<string[]> {
  return (await query(context.sql(NAMED_BY), [limit])).map((row) => row['name'] as string)
}

async function recordNow(context: Context, query: Query, limit: LockedLimit): Promise<LimitRecord> {
  const held = (await permitsOut(context, query, [limit])).get(limit.name) ?? 0
  return recordOf(limit, { now: limit.now, held, keys: await keysOf(context, query, limit) })
}

/** A limit for each key has no budget of its own: what is told is that of a key that was never used. */
function recordOf(
  { name, settings, state: own }: LimitRow,
  at: { readonly now: number; readonly held: number; readonly keys: number | null },
): LimitRecord {
  const state = isPerKey(settings) ? EMPTY_BUDGET : own
  return {
    name,
    settings,
    available: available(settings, state, at),
    held: at.held,
    nextInMs: nextInMs(settings, state, at),
    drainedMs: Math.max(0, state.drainedUntil - at.now),
    keys: at.keys,
  }
}
