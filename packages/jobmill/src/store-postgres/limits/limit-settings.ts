/** The settings of limits: values from code, overrides by operators, and the effective result. */
import { type BudgetState, changeBudget, EMPTY_BUDGET } from '../../job/limit/budget.ts'
import { isPerKey, type LimitParts, type LimitSettings } from '../../job/limit/limit.ts'
import {
  createdLimit,
  effectiveLimit,
  isSameLimit,
  keepsPerKey,
  keptLimit,
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
  perKeyOnQueue,
} from '../../store/cluster-errors.ts'
import type { DeclaredLimit, LimitRecord } from '../../store/types/limit.ts'
import type { Query, Row } from '../connection/connection.ts'
import { type Context, run } from '../context.ts'
import { GIVEN_CTE, SETTINGS_CHANGED } from '../fragments.ts'
import { changeKeys, deleteKeys, deleteKeysOf } from './limit-keys.ts'
import {
  LIMIT_COLUMNS,
  LIMIT_NAMES,
  limitOf,
  type LockedLimit,
  lockLimits,
  settingsColumns,
  stateColumns,
} from './limit-rows.ts'
import { queuesOf, recordNow, withLimit } from './limits.ts'
import { now } from '../connection/now.ts'
import { sourcesOf } from '../queues/queue-rows.ts'

/**
 * Inserts missing limits. Also deletes keys that a process of an earlier release left behind when it deleted
 * the limit.
 */
const CREATE = `
WITH ${GIVEN_CTE}, added AS (
  INSERT INTO jobmill.limit (name, amount, per_ms, burst, most, per_key, code, overrides)
  SELECT x.name, x.amount, x.per_ms, x.burst, x.most, x.per_key, x.code, x.overrides
    FROM given, json_to_recordset(p -> 'limits') AS x(name text, amount int4, per_ms int8, burst int4, most int4, per_key bool,
                                                      code json, overrides json)
   WHERE NOT EXISTS (SELECT FROM jobmill.limit AS l WHERE l.name = x.name AND l.key = '') ORDER BY x.name
  ON CONFLICT (name, key) DO NOTHING RETURNING name
), left_behind AS (
  ${deleteKeysOf('added')}
), bumped AS (
  ${SETTINGS_CHANGED} WHERE EXISTS (SELECT FROM added)
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
), forgotten AS (
  DELETE FROM jobmill.limit_waiter WHERE limit_name = (SELECT p -> 'limit' ->> 'name' FROM given)
)
${SETTINGS_CHANGED}`

/** A start without changes reads once and takes no locks. */
export async function declareLimits(context: Context, limits: readonly DeclaredLimit[]): Promise<void> {
  if (limits.length === 0) return
  // If a name is declared twice, the last declaration wins.
  const code = new Map(limits.map(({ name, settings }) => [name, settings]))
  const known = await sourcesByName(context, context.connection.query, code.keys())
  if ([...code].every(([name, parts]) => isSameValue(known.get(name)?.code, parts))) return
  const queues = await context.connection.transaction((query) => declareAll(context, query, code))
  notifyFor(context, queues)
}

/** Returns the queues whose limits have new effective settings. */
async function declareAll(
  context: Context,
  query: Query,
  code: ReadonlyMap<string, LimitParts>,
): Promise<string[]> {
  const fresh = [...code].map(([name, parts]) => ({
    name,
    sources: { code: parts, overrides: NO_OVERRIDES },
  }))
  await createRows(context, query, fresh)
  const locked = await lockLimits(context, query, code.keys())
  const known = await sourcesByName(context, query, code.keys())
  const queues: string[] = []
  for (const [name, parts] of code) {
    const [limit, before] = [locked.get(name), known.get(name)]
    if (limit === undefined || before === undefined || isSameValue(before.code, parts)) continue
    queues.push(
      ...(await rework(context, query, limit, { before, after: { ...before, code: parts } })).queues,
    )
  }
  return queues
}

export async function createLimit(
  context: Context,
  name: string,
  parts: LimitParts,
  by?: string,
): Promise<LimitRecord> {
  const sources = createdLimit(parts, { by: by ?? null, at: await now(context) })
  return context.connection.transaction(async (query) => {
    await createRows(context, query, [{ name, sources }])
    const limit = (await lockLimits(context, query, [name])).get(name)
    if (limit === undefined || !isSameLimit(limit.settings, effectiveLimit(sources))) throw limitExists(name)
    return recordNow(context, query, limit)
  })
}

async function createRows(
  context: Context,
  query: Query,
  limits: readonly { readonly name: string; readonly sources: LimitSources }[],
): Promise<void> {
  const rows = limits.map(({ name, sources }) => ({
    name,
    ...settingsColumns(effectiveLimit(sources)),
    ...sources,
  }))
  await run(context, query, CREATE, `"limits":${JSON.stringify(rows)}`)
}

export async function changeLimit(
  context: Context,
  name: string,
  parts: LimitParts,
  by?: string,
): Promise<LimitRecord> {
  const { record } = await reworkByName(
    context,
    name,
    (before, limit) => {
      const perKey = isPerKey(limit.settings)
      if (!keepsPerKey(parts, perKey)) throw perKeyFixed(name, perKey)
      return overrideLimit(before, parts, { by: by ?? null, at: Math.floor(limit.now) })
    },
    true,
  )
  return record
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
  const rows = await context.connection.query(context.sql(ALL_SOURCES), [])
  return rows.flatMap((row) => limitOverrides(row['name'] as string, limitSources(row)))
}

interface Rework {
  readonly before: LimitSources
  readonly after: LimitSources
}

async function reworkByName(
  context: Context,
  name: string,
  change: (before: LimitSources, limit: LockedLimit) => LimitSources,
  always = false,
): Promise<Rework & { readonly record: LimitRecord }> {
  const { queues, ...done } = await withLimit(context, name, async (query, limit) => {
    const before = (await sourcesByName(context, query, [name])).get(name)
    if (before === undefined) throw limitUnknown(name)
    const sources = { before, after: change(before, limit) }
    const { after, queues: queuesHere } = await rework(context, query, limit, sources, always)
    return { ...sources, record: await recordNow(context, query, after), queues: queuesHere }
  })
  notifyFor(context, queues)
  return done
}

/**
 * Requires a locked limit. Keeps budgets and waiting requests, unless the effective settings changed or
 * `always` is set. Returns the affected queues.
 */
async function rework(
  context: Context,
  query: Query,
  limit: LockedLimit,
  { after }: Rework,
  always = false,
): Promise<{ readonly after: LockedLimit; readonly queues: readonly string[] }> {
  const { name } = limit
  const settings = effectiveLimit(after)
  if (!always && isSameLimit(settings, limit.settings)) {
    await run(context, query, SAVE_SOURCES, `"limit":${JSON.stringify({ name, ...after })}`)
    return { after: limit, queues: [] }
  }
  const queues = await queuesOf(context, query, name)
  const state = await reworkKeys(context, query, limit, { settings, isNamed: queues.length > 0 })
  const row = { name, ...settingsColumns(settings), ...stateColumns(state), ...after }
  await run(context, query, CHANGE, `"limit":${JSON.stringify(row)}`)
  return { after: { ...limit, settings, state }, queues }
}

/** The limit may allow more than before. */
function notifyFor(context: Context, queues: readonly string[]): void {
  if (queues.length > 0) context.notify(queues.map((queue) => ({ queue, jobs: null })))
}

/** The new state of the budget and of its keys. All budgets are full when `perKey` changes. */
async function reworkKeys(
  context: Context,
  query: Query,
  limit: LockedLimit,
  { settings, isNamed }: { readonly settings: LimitSettings; readonly isNamed: boolean },
): Promise<BudgetState> {
  const perKey = isPerKey(settings)
  if (perKey !== isPerKey(limit.settings)) {
    if (perKey && isNamed) throw perKeyOnQueue(limit.name)
    if (!perKey) await deleteKeys(context, query, limit.name)
    return EMPTY_BUDGET
  }
  if (perKey) await changeKeys(context, query, limit.name, settings)
  return changeBudget(limit.settings, settings, limit.state, limit.now)
}

async function sourcesByName(
  context: Context,
  query: Query,
  names: Iterable<string>,
): Promise<Map<string, LimitSources>> {
  const rows = await run(context, query, SOURCES, `"limits":${JSON.stringify([...names])}`)
  return new Map(rows.map((row) => [row['name'] as string, limitSources(row)]))
}

export function limitSources(row: Row): LimitSources {
  return keptLimit(sourcesOf(row), limitOf(row).settings)
}
