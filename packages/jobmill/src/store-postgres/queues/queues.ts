/** Queues: settings from code, overrides by operators, and the effective result. */
import { droppedOptions, type OverrideRecord } from '../../job/queue/overrides.ts'
import {
  effectiveQueue,
  isSameQueue,
  overrideQueue,
  queueOverrides,
  type QueueSources,
  resetQueue,
} from '../../job/queue/queue-sources.ts'
import type { QueuePatch, QueueSettings } from '../../job/queue/queue-settings.ts'
import { limitUnknown, perKeyOnQueue } from '../../store/cluster-errors.ts'
import { type DeclaredQueue, type QueueRecord, queueUnknown } from '../../store/types/queue-record.ts'
import type { Row } from '../connection/connection.ts'
import { ask, askWith, type Context, inTransaction } from '../context.ts'
import { notifyQueues } from '../enqueue/ready-counts.ts'
import { GIVEN_CTE, GROUP_MARK, NOW, SETTINGS_CHANGED } from '../fragments.ts'
import { ADD_QUEUES, COLUMNS, TYPED, columns, recordOf, settingsOf, sourcesOf } from './queue-rows.ts'

const RECORD = `q.name, ${COLUMNS.map((column) => `q.${column}`).join(', ')}, q.throttles,
  greatest(q.cool_until - ${NOW}, 0) AS cooling_ms`

const SOURCES = `${RECORD}, q.code, q.overrides, ${NOW} AS now`

/** Uses the unique name. */
const FIND = `
WITH ${GIVEN_CTE}
SELECT ${SOURCES} FROM jobmill.queue AS q WHERE q.name = ANY (ARRAY(SELECT json_array_elements_text(p -> 'names') FROM given))
 ORDER BY q.name`

/**
 * Locks in the order of the names to avoid deadlocks. The lock keeps concurrent changes of different options
 * from undoing each other.
 */
const LOCK = `${FIND} FOR NO KEY UPDATE`

/** Uses the unique name; the rows are already locked. */
const SAVE = `
WITH ${GIVEN_CTE}, saved AS (
  UPDATE jobmill.queue AS q SET ${COLUMNS.map((column) => `${column} = x.${column}`).join(', ')}, code = x.code, overrides = x.overrides,
         cool_until = CASE WHEN x.cool_ms IS NULL THEN q.cool_until ELSE given.now + x.cool_ms END
    FROM given, json_to_recordset(p -> 'queues') AS x(name text, ${TYPED}, code json, overrides json, cool_ms int8)
   WHERE q.name = x.name
  RETURNING q.*
)
SELECT ${RECORD} FROM saved AS q`

const QUEUES = `
WITH ${GIVEN_CTE}
SELECT ${RECORD} FROM jobmill.queue AS q ORDER BY q.name COLLATE "C"`

const ALL_SOURCES = `
WITH ${GIVEN_CTE}
SELECT ${SOURCES} FROM jobmill.queue AS q ORDER BY q.name COLLATE "C"`

/**
 * Prevents the deletion of these limits until the queue that uses them is written. A delete looks for such
 * queues after it has locked the limit.
 */
const NAMED_LIMITS = `
WITH ${GIVEN_CTE}
SELECT l.name, l.per_key FROM jobmill.limit AS l
 WHERE l.name = ANY (ARRAY(SELECT json_array_elements_text(p -> 'limits') FROM given)) AND l.key = '' ORDER BY l.name FOR SHARE`

/** Runs `work` in a transaction that locks these limits. All of them must exist. */
function withLimits<T>(
  context: Context,
  limits: readonly string[],
  work: (inside: Context) => Promise<T>,
): Promise<T> {
  return inTransaction(context, async (inside) => {
    if (limits.length > 0) await lockNamed(inside, limits)
    return work(inside)
  })
}

async function lockNamed(inside: Context, limits: readonly string[]): Promise<void> {
  const rows = await ask<{ name: string; per_key: boolean }>(inside, NAMED_LIMITS, { limits })
  const missing = limits.find((limit) => !rows.some(({ name }) => name === limit))
  if (missing !== undefined) throw limitUnknown(missing)
  const perKey = rows.find((row) => row.per_key)
  if (perKey !== undefined) throw perKeyOnQueue(perKey.name)
}

export async function declareQueues(context: Context, queues: readonly DeclaredQueue[]): Promise<void> {
  notifyQueues(context, await redeclareQueues(context, queues))
}

export function limitsNamed(queues: readonly DeclaredQueue[]): string[] {
  return queues.flatMap(({ settings }) => settings?.limit ?? [])
}

/**
 * Returns the queues whose effective settings changed. A start without changes reads once and takes no locks,
 * except on the limits that code names.
 */
export async function redeclareQueues(context: Context, given: readonly DeclaredQueue[]): Promise<string[]> {
  const queues = await withoutDeclared(context, given)
  if (queues.length === 0) return []
  const limits = limitsNamed(queues)
  const names = [...new Set(queues.map(({ name }) => name))].toSorted()
  // If a name is declared twice, the last declaration wins.
  const code = new Map(
    queues.flatMap(({ name, settings, unlessDeclared = false }) =>
      settings === null ? [] : [[name, { settings, unlessDeclared }]],
    ),
  )
  const declare = async (here: Context): Promise<string[]> => {
    const known = await ask(here, FIND, { names })
    if (known.length === names.length && known.every((row) => redeclare(row, code) === undefined)) return []
    return inTransaction(here, (inside) => declareAll(inside, names, code))
  }
  return limits.length === 0 ? declare(context) : withLimits(context, limits, declare)
}

/** The limits of queues that stay unchanged are not checked: a later release may have changed them. */
async function withoutDeclared(
  context: Context,
  queues: readonly DeclaredQueue[],
): Promise<readonly DeclaredQueue[]> {
  const names = queues.flatMap(({ name, unlessDeclared }) => (unlessDeclared === true ? [name] : []))
  if (names.length === 0) return queues
  const known = await ask(context, FIND, { names })
  const declared = known.filter((row) => row['code'] !== null).map((row) => row['name'])
  return queues.filter(({ name, unlessDeclared }) => unlessDeclared !== true || !declared.includes(name))
}

/** Returns the queues whose effective settings changed. */
async function declareAll(
  inside: Context,
  names: readonly string[],
  code: ReadonlyMap<string, DeclaredCode>,
): Promise<string[]> {
  const added = await askWith(inside, ADD_QUEUES, [names])
  const rows = await ask(inside, LOCK, { names })
  const news = rows.flatMap((row) => redeclare(row, code) ?? [])
  await save(inside, news)
  const changed = news.filter(({ name, settings }) => {
    const before = rows.find((row) => row['name'] === name)
    return before !== undefined && !isSameQueue(settings, settingsOf(before))
  })
  if (added.length + changed.length > 0) await askWith(inside, SETTINGS_CHANGED)
  return changed.map(({ name }) => name)
}

interface DeclaredCode {
  readonly settings: Partial<QueueSettings>
  readonly unlessDeclared: boolean
}

/** Undefined if the settings from code are unchanged. */
function redeclare(row: Row, declared: ReadonlyMap<string, DeclaredCode>): Saved | undefined {
  const name = row['name'] as string
  const given = declared.get(name)
  if (given === undefined || (given.unlessDeclared && row['code'] !== null)) return undefined
  const code = given.settings
  const sources = { code, overrides: sourcesOf(row).overrides }
  const settings = effectiveQueue(sources)
  const isSame = row['code'] === JSON.stringify(code) && isSameQueue(settings, settingsOf(row))
  return isSame ? undefined : { name, settings, sources }
}

export async function changeQueue(
  context: Context,
  name: string,
  patch: QueuePatch,
  by: string | null = null,
): Promise<QueueRecord> {
  const { limit } = patch.settings
  const row = await withLimits(context, typeof limit === 'string' ? [limit] : [], async (inside) => {
    const known = await lockOne(inside, name)
    const sources = overrideQueue(sourcesOf(known), patch.settings, { by, at: known['now'] as number })
    const saved = { name, settings: effectiveQueue(sources), sources, coolMs: patch.coolMs }
    const [after] = await save(inside, [saved])
    await askWith(inside, SETTINGS_CHANGED)
    return after
  })
  if (row === undefined) throw queueUnknown(name)
  notifyQueues(context, [name])
  return recordOf(row)
}

export async function resetQueueOverrides(
  context: Context,
  name: string,
  options: readonly string[] | null,
): Promise<string[]> {
  const [known] = await ask(context, FIND, { names: [name] })
  if (known === undefined) throw queueUnknown(name)
  // The limit named by code may have been deleted since.
  const { limit } = effectiveQueue(resetQueue(sourcesOf(known), options))
  const dropped = await withLimits(context, limit === null ? [] : [limit], async (inside) => {
    const before: QueueSources = sourcesOf(await lockOne(inside, name))
    const sources = resetQueue(before, options)
    const gone = droppedOptions(before.overrides, sources.overrides)
    if (gone.length === 0) return gone
    await save(inside, [{ name, settings: effectiveQueue(sources), sources }])
    await askWith(inside, SETTINGS_CHANGED)
    return gone
  })
  if (dropped.length > 0) notifyQueues(context, [name])
  return dropped
}

export async function overridesOfQueues(context: Context): Promise<OverrideRecord[]> {
  const rows = await ask(context, ALL_SOURCES)
  return rows.flatMap((row) => queueOverrides(row['name'] as string, sourcesOf(row)))
}

async function lockOne(inside: Context, name: string): Promise<Row> {
  const [row] = await ask(inside, LOCK, { names: [name] })
  if (row === undefined) throw queueUnknown(name)
  return row
}

interface Saved {
  readonly name: string
  readonly settings: QueueSettings
  readonly sources: QueueSources
  readonly coolMs?: number | null
}

/**
 * The groups of these queues may have other limits now. Each group with waiting jobs has a row or an order
 * check. Reads a range of the primary key per queue.
 */
const CHECK_GROUPS = `
WITH ${GIVEN_CTE}
INSERT INTO jobmill.order_check (queue_id, order_key)
SELECT g.queue_id, ${GROUP_MARK} || g.name FROM jobmill.queue AS q JOIN jobmill.job_group AS g ON g.queue_id = q.id
 WHERE q.name = ANY (ARRAY(SELECT json_array_elements_text(p -> 'names') FROM given))`

async function save(inside: Context, saved: readonly Saved[]): Promise<readonly Row[]> {
  if (saved.length === 0) return []
  const names = saved.map(({ name }) => name)
  await ask(inside, CHECK_GROUPS, { names })
  const queues = saved.map(({ name, settings, sources, coolMs = null }) => ({
    name,
    ...columns(settings),
    ...sources,
    cool_ms: coolMs,
  }))
  return ask(inside, SAVE, { queues })
}

export async function queues(context: Context): Promise<QueueRecord[]> {
  const read = async (): Promise<QueueRecord[]> => (await ask(context, QUEUES)).map(recordOf)
  const found = await read()
  return (await context.names.putBackQueues(new Set(found.map(({ name }) => name)))) ? read() : found
}
