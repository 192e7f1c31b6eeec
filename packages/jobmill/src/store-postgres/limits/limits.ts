/** Drains and deletes limits, and reads their current numbers. */
import { available, drainBudget, EMPTY_BUDGET, nextInMs } from '../../job/limit/budget.ts'
import { isPerKey } from '../../job/limit/limit.ts'
import { limitInUse, limitUnknown, wrongKey } from '../../store/cluster-errors.ts'
import type { LimitRecord } from '../../store/types/limit.ts'
import type { Query } from '../connection/connection.ts'
import { type Context, run } from '../context.ts'
import { GIVEN_CTE, SETTINGS_CHANGED } from '../fragments.ts'
import { deleteKeys, KEYS, keysOf, makeKeys } from './limit-keys.ts'
import {
  HELD_PERMITS,
  LIMIT_COLUMNS,
  limitOf,
  type LimitRow,
  type LockedLimit,
  lockLimits,
  permitsOut,
  writeStates,
} from './limit-rows.ts'

/** A separate statement after the lock, because a change of a queue's limit also takes this lock. */
const NAMED_BY = `
SELECT name FROM jobmill.queue WHERE limit_name = $1 ORDER BY name COLLATE "C"`

const DELETE = `
WITH ${GIVEN_CTE}, name AS MATERIALIZED (
  SELECT p ->> 'name' AS name FROM given
), permits AS (
  DELETE FROM jobmill.permit WHERE limit_name = (SELECT name FROM name)
), places AS (
  DELETE FROM jobmill.limit_waiter WHERE limit_name = (SELECT name FROM name)
), gone AS (
  DELETE FROM jobmill.limit WHERE name = (SELECT name FROM name) AND key = ''
)
${SETTINGS_CHANGED}`

/** Uses limit_own, because there may be far more keys than limits. */
const LIMITS = `
WITH ${GIVEN_CTE}
SELECT ${LIMIT_COLUMNS}, ${HELD_PERMITS} AS held, ${KEYS} AS keys, g.now FROM given AS g, jobmill.limit AS l
 WHERE l.key = '' ORDER BY l.name COLLATE "C"`

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

/** Null if the row does not exist or is the parent of per-key budgets. */
async function drainOnce(
  context: Context,
  query: Query,
  { name, key }: { readonly name: string; readonly key: string | undefined },
  forMs: number,
): Promise<LimitRecord | null> {
  const before = (await lockLimits(context, query, [name], key)).get(name)
  if (before === undefined || isPerKey(before.settings)) return null
  const after = { ...before, state: drainBudget(before.settings, before.state, forMs, before.now) }
  await writeStates(context, query, [after])
  const record = await recordNow(context, query, after)
  if (key === undefined || record.settings.type !== 'rate') return record
  const settings = { ...record.settings, perKey: true as const }
  return { ...record, settings, keys: await keysOf(context, query, { name, settings }) }
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

export function withLimit<T>(
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

export async function queuesOf(context: Context, query: Query, limit: string): Promise<string[]> {
  return (await query(context.sql(NAMED_BY), [limit])).map((row) => row['name'] as string)
}

export async function recordNow(context: Context, query: Query, limit: LockedLimit): Promise<LimitRecord> {
  const held = (await permitsOut(context, query, [limit])).get(limit.name) ?? 0
  return recordOf(limit, { now: limit.now, held, keys: await keysOf(context, query, limit) })
}

/** A per-key limit has no budget of its own, so the record shows that of an unused key. */
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
