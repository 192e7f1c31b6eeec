/** Drains and deletes limits, and reads their current numbers. */
import { available, drainBudget, EMPTY_BUDGET, nextInMs } from '../../job/limit/budget.ts'
import { isPerKey } from '../../job/limit/limit.ts'
import { limitInCode, limitInUse, limitUnknown, wrongKey } from '../../store/cluster-errors.ts'
import type { LimitRecord } from '../../store/types/limit.ts'
import type { Row } from '../connection/connection.ts'
import { ask, askWith, type Context, inTransaction } from '../context.ts'
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

const NAMED_IN_CODE = `SELECT name FROM jobmill.queue WHERE code ->> 'limit' = $1 LIMIT 1`

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

export function deleteLimit(context: Context, name: string): Promise<boolean> {
  return inTransaction(context, async (inside) => {
    const limit = (await lockLimits(inside, [name])).get(name)
    if (limit === undefined) return false
    const [queue] = await queuesOf(inside, name)
    if (queue !== undefined) throw limitInUse(name, queue)
    const inCode = await queueInCode(inside, name)
    if (inCode !== undefined) throw limitInCode(name, inCode)
    if (isPerKey(limit.settings)) await deleteKeys(inside, name)
    await ask(inside, DELETE, { name })
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
    const record = await inTransaction(context, (inside) => drainOnce(inside, name, forMs, key))
    if (record !== null) return record
    const [refused] = (await makeKeys(context, [{ limit: name, key }])).values()
    if (refused?.outcome === 'unknown') throw limitUnknown(name)
    if (refused?.outcome === 'wrong-key') throw wrongKey(name, refused.perKey)
  }
}

/** Null if the row does not exist or is the parent of per-key budgets. */
async function drainOnce(
  inside: Context,
  name: string,
  forMs: number,
  key?: string,
): Promise<LimitRecord | null> {
  const before = (await lockLimits(inside, [name], key)).get(name)
  if (before === undefined || isPerKey(before.settings)) return null
  const after = { ...before, state: drainBudget(before.settings, before.state, forMs, before.now) }
  await writeStates(inside, [after])
  const record = await recordNow(inside, after)
  if (key === undefined || record.settings.type !== 'rate') return record
  const settings = { ...record.settings, perKey: true as const }
  return { ...record, settings, keys: await keysOf(inside, { name, settings }) }
}

export async function limits(context: Context): Promise<LimitRecord[]> {
  const rows = await ask<Row & Numbers>(context, LIMITS)
  return rows.map((row) => recordOf(limitOf(row), row))
}

export async function queuesOf(context: Context, limit: string): Promise<string[]> {
  return (await askWith<{ name: string }>(context, NAMED_BY, [limit])).map(({ name }) => name)
}

/** A queue whose code uses the limit, even if an override hides that. */
export async function queueInCode(context: Context, limit: string): Promise<string | undefined> {
  return (await askWith<{ name: string }>(context, NAMED_IN_CODE, [limit]))[0]?.name
}

export async function recordNow(inside: Context, limit: LockedLimit): Promise<LimitRecord> {
  const held = (await permitsOut(inside, [limit])).get(limit.name) ?? 0
  return recordOf(limit, { now: limit.now, held, keys: await keysOf(inside, limit) })
}

interface Numbers {
  readonly now: number
  readonly held: number
  readonly keys: number | null
}

/** A per-key limit has no budget of its own, so the record shows that of an unused key. */
function recordOf({ name, settings, state: own }: LimitRow, at: Numbers): LimitRecord {
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
