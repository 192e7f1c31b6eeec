/** The settings of limits: values from code, overrides by operators, and the effective result. */
import { type BudgetState, changeBudget, EMPTY_BUDGET } from '../../job/limit/budget.ts'
import { isPerKey, type LimitParts, type LimitSettings } from '../../job/limit/limit.ts'
import {
  createdLimit,
  effectiveLimit,
  isSameLimit,
  keepsPerKey,
  limitOverrides,
  type LimitSources,
  overrideLimit,
  resetLimit,
} from '../../job/limit/limit-sources.ts'
import { droppedOptions, isSameValue, NO_OVERRIDES, type OverrideRecord } from '../../job/queue/overrides.ts'
import {
  limitExists,
  limitUnknown,
  notInCode,
  perKeyFixed,
  perKeyInCode,
  perKeyOnQueue,
} from '../../store/cluster-errors.ts'
import type { DeclaredLimit, LimitRecord } from '../../store/types/limit.ts'
import type { DeclaredQueue } from '../../store/types/queue-record.ts'
import { ask, askWith, columnsOf, type Context, inTransaction } from '../context.ts'
import { notifyQueues } from '../enqueue/ready-counts.ts'
import { GIVEN_CTE, SETTINGS_CHANGED } from '../fragments.ts'
import { changeKeys, deleteKeys } from './limit-keys.ts'
import { LIMIT_COLUMNS, LIMIT_NAMES, type LockedLimit, lockLimits, settingsColumns } from './limit-rows.ts'
import { queueInCode, queuesOf, recordNow } from './limits.ts'
import { now } from '../connection/now.ts'
import { declareQueues, limitsNamed, redeclareQueues } from '../queues/queues.ts'
import { sourcesOf } from '../queues/queue-rows.ts'

/**
 * Inserts missing limits. Like CHANGE, it leaves the version of the settings to the end of a transaction: all
 * changes share its row, so every transaction locks it after limits and queues to avoid deadlocks.
 */
const CREATE = `
WITH ${GIVEN_CTE}, added AS (
  INSERT INTO jobmill.limit (name, amount, per_ms, burst, most, per_key, code, overrides)
  SELECT x.name, x.amount, x.per_ms, x.burst, x.most, x.per_key, x.code, x.overrides
    FROM given, json_to_recordset(p -> 'limits') AS x(name text, amount int4, per_ms int8, burst int4, most int4, per_key bool,
                                                      code json, overrides json)
   WHERE NOT EXISTS (SELECT FROM jobmill.limit AS l WHERE l.name = x.name AND l.key = '') ORDER BY x.name
  ON CONFLICT (name, key) DO NOTHING RETURNING name
)
SELECT name FROM added`

/** Uses primary keys. The result may be stale unless the rows are locked. */
const SOURCES = `
WITH ${GIVEN_CTE}
SELECT ${LIMIT_COLUMNS}, l.code, l.overrides FROM jobmill.limit AS l
 WHERE l.name = ANY (${LIMIT_NAMES}) AND l.key = ''`
const ALL_SOURCES = `
SELECT ${LIMIT_COLUMNS}, l.code, l.overrides FROM jobmill.limit AS l WHERE l.key = '' ORDER BY l.name COLLATE "C"`

/** Uses the primary key; the row is already locked. */
const SAVE_SOURCES = `
WITH ${GIVEN_CTE}
UPDATE jobmill.limit AS l SET code = x.code, overrides = x.overrides
  FROM given, json_to_record(p -> 'limit') AS x(name text, code json, overrides json) WHERE l.name = x.name AND l.key = ''`

/** Uses primary keys; the rows are already locked. Requests that wait for a key lose their place, too. */
const CHANGE = `
WITH ${GIVEN_CTE}, written AS (
  UPDATE jobmill.limit AS l SET amount = x.amount, per_ms = x.per_ms, burst = x.burst, most = x.most, per_key = x.per_key,
         paid_at = x.paid_at, reserved_until = x.reserved_until, drained_until = x.drained_until, code = x.code, overrides = x.overrides
    FROM given, json_to_record(p -> 'limit') AS x(name text, amount int4, per_ms int8, burst int4, most int4, per_key bool,
                                                  paid_at float8, reserved_until float8, drained_until float8, code json, overrides json)
   WHERE l.name = x.name AND l.key = ''
)
DELETE FROM jobmill.limit_waiter WHERE limit_name = (SELECT p -> 'limit' ->> 'name' FROM given)`

/**
 * A start without changes of limits reads once and takes no locks for them. Otherwise, one transaction writes
 * the limits and the queues, because a queue that is refused must leave no limit behind.
 */
export async function declareLimits(
  context: Context,
  limits: readonly DeclaredLimit[],
  queues: readonly DeclaredQueue[] = [],
): Promise<void> {
  if (limits.length === 0) return declareQueues(context, queues)
  // If a name is declared twice, the last declaration wins.
  const code = new Map(limits.map(({ name, settings }) => [name, settings]))
  const known = await sourcesByName(context, code.keys())
  if ([...code].every(([name, parts]) => isSameValue(known.get(name)?.code, parts)))
    return declareQueues(context, queues)
  const changed = await inTransaction(context, (inside) => declareAll(inside, code, queues))
  notifyQueues(context, changed)
}

/** Returns the queues that changed, or whose limits have new effective settings. */
async function declareAll(
  inside: Context,
  code: ReadonlyMap<string, LimitParts>,
  queues: readonly DeclaredQueue[],
): Promise<string[]> {
  const fresh = [...code].map(([name, parts]) => ({
    name,
    sources: { code: parts, overrides: NO_OVERRIDES },
  }))
  let isChanged = await createRows(inside, fresh)
  // Includes the limits that only the queues name, so that all are locked in one order.
  const locked = await lockLimits(inside, new Set([...code.keys(), ...limitsNamed(queues)]))
  const known = await sourcesByName(inside, code.keys())
  const changed: string[] = []
  for (const [name, parts] of code) {
    const [limit, before] = [locked.get(name), known.get(name)]
    if (limit === undefined || before === undefined || isSameValue(before.code, parts)) continue
    const reworked = await rework(inside, limit, { ...before, code: parts })
    isChanged ||= reworked.isChanged
    changed.push(...reworked.queues)
  }
  changed.push(...(await redeclareQueues(inside, queues)))
  if (isChanged) await askWith(inside, SETTINGS_CHANGED)
  return changed
}

export async function createLimit(
  context: Context,
  name: string,
  parts: LimitParts,
  by: string | null = null,
): Promise<LimitRecord> {
  const sources = createdLimit(parts, { by, at: await now(context) })
  return inTransaction(context, async (inside) => {
    const isNew = await createRows(inside, [{ name, sources }])
    const limit = (await lockLimits(inside, [name])).get(name)
    if (limit === undefined || !isSameLimit(limit.settings, effectiveLimit(sources))) throw limitExists(name)
    if (isNew) await askWith(inside, SETTINGS_CHANGED)
    return recordNow(inside, limit)
  })
}

/** Returns whether any was missing. */
async function createRows(
  inside: Context,
  created: readonly { readonly name: string; readonly sources: LimitSources }[],
): Promise<boolean> {
  const limits = created.map(({ name, sources }) => ({
    name,
    ...settingsColumns(effectiveLimit(sources)),
    ...sources,
  }))
  return (await ask(inside, CREATE, { limits })).length > 0
}

export async function changeLimit(
  context: Context,
  name: string,
  parts: LimitParts,
  by: string | null = null,
): Promise<LimitRecord> {
  const change = (before: LimitSources, locked: LockedLimit): LimitSources => {
    const perKey = isPerKey(locked.settings)
    if (!keepsPerKey(parts, perKey)) throw perKeyFixed(name, perKey)
    return overrideLimit(before, parts, { by, at: Math.floor(locked.now) })
  }
  return (await reworkByName(context, name, change, true)).record
}

export async function resetLimitOverrides(
  context: Context,
  name: string,
  options: readonly string[] | null,
): Promise<string[]> {
  const { before, after } = await reworkByName(context, name, (sources) => {
    if (sources.code === null) throw notInCode('limit', name)
    return resetLimit(sources, options)
  })
  return droppedOptions(before.overrides, after.overrides)
}

export async function overridesOfLimits(context: Context): Promise<OverrideRecord[]> {
  const rows = await askWith(context, ALL_SOURCES)
  return rows.flatMap((row) => limitOverrides(row['name'] as string, sourcesOf(row)))
}

interface Reworked {
  readonly before: LimitSources
  readonly after: LimitSources
  readonly record: LimitRecord
}

async function reworkByName(
  context: Context,
  name: string,
  change: (before: LimitSources, limit: LockedLimit) => LimitSources,
  always = false,
): Promise<Reworked> {
  const { queues, ...done } = await inTransaction(context, async (inside) => {
    const locked = (await lockLimits(inside, [name])).get(name)
    const before = (await sourcesByName(inside, [name])).get(name)
    if (locked === undefined || before === undefined) throw limitUnknown(name)
    const after = change(before, locked)
    const { limit, queues, isChanged } = await rework(inside, locked, after, always)
    if (isChanged) await askWith(inside, SETTINGS_CHANGED)
    return { before, after, record: await recordNow(inside, limit), queues }
  })
  notifyQueues(context, queues)
  return done
}

/**
 * Requires a locked limit. Keeps budgets and waiting requests, unless the effective settings changed or
 * `always` is set. Returns the affected queues, and whether the caller must change the version of the
 * settings.
 */
async function rework(
  inside: Context,
  limit: LockedLimit,
  sources: LimitSources,
  always = false,
): Promise<{ readonly limit: LockedLimit; readonly queues: readonly string[]; readonly isChanged: boolean }> {
  const { name } = limit
  const settings = effectiveLimit(sources)
  if (!always && isSameLimit(settings, limit.settings)) {
    await ask(inside, SAVE_SOURCES, { limit: { name, ...sources } })
    return { limit, queues: [], isChanged: false }
  }
  const queues = await queuesOf(inside, name)
  if (isPerKey(settings) && !isPerKey(limit.settings)) {
    if (queues.length > 0) throw perKeyOnQueue(name)
    const inCode = await queueInCode(inside, name)
    if (inCode !== undefined) throw perKeyInCode(name, inCode)
  }
  const state = await reworkKeys(inside, limit, settings)
  const row = { name, ...settingsColumns(settings), ...columnsOf(state), ...sources }
  await ask(inside, CHANGE, { limit: row })
  return { limit: { ...limit, settings, state }, queues, isChanged: true }
}

/** The new state of the budget and of its keys. All budgets are full when `perKey` changes. */
async function reworkKeys(
  inside: Context,
  limit: LockedLimit,
  settings: LimitSettings,
): Promise<BudgetState> {
  const perKey = isPerKey(settings)
  if (perKey !== isPerKey(limit.settings)) {
    if (!perKey) await deleteKeys(inside, limit.name)
    return EMPTY_BUDGET
  }
  if (perKey) await changeKeys(inside, limit.name, settings)
  return changeBudget(limit.settings, settings, limit.state, limit.now)
}

async function sourcesByName(context: Context, names: Iterable<string>): Promise<Map<string, LimitSources>> {
  const rows = await ask(context, SOURCES, { limits: [...names] })
  return new Map(rows.map((row) => [row['name'] as string, sourcesOf(row)]))
}
