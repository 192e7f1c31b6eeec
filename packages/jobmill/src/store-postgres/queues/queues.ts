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
import {
  DEFAULT_QUEUE_SETTINGS,
  type QueuePatch,
  type QueueSettings,
} from '../../job/queue/queue-settings.ts'
import { limitUnknown, perKeyOnQueue } from '../../store/cluster-errors.ts'
import { type DeclaredQueue, type QueueRecord, queueUnknown } from '../../store/types/queue-record.ts'
import type { Query, Row } from '../connection/connection.ts'
import { type Context, run } from '../context.ts'
import { GIVEN_CTE, NOW, SETTINGS_CHANGED } from '../fragments.ts'
import {
  COLUMN,
  COLUMNS,
  TYPED,
  sourceColumns,
  queueSources,
  columns,
  recordOf,
  settingsOf,
} from './queue-rows.ts'

/** Uses the unique name. A concurrent call that adds the same queues finds them. */
const ADD = `
WITH ${GIVEN_CTE}
INSERT INTO jobmill.queue (name, ${COLUMNS}, declared)
SELECT x.name, ${Object.values(COLUMN)
  .map((column) => `d.${column}`)
  .join(
    ', ',
  )}, false FROM given, json_to_recordset(p -> 'queues') AS x(name text), json_to_record(p -> 'defaults') AS d(${TYPED})
 WHERE NOT EXISTS (SELECT FROM jobmill.queue AS k WHERE k.name = x.name) ORDER BY x.name
ON CONFLICT (name) DO NOTHING RETURNING name`

const RECORD = `q.name, ${Object.values(COLUMN)
  .map((column) => `q.${column}`)
  .join(', ')}, q.throttles,
  greatest(q.cool_until - ${NOW}, 0) AS cooling_ms`

const SOURCES = `${RECORD}, q.declared, q.code, q.overrides, ${NOW} AS now`

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
  UPDATE jobmill.queue AS q SET ${Object.values(COLUMN)
    .map((column) => `${column} = x.${column}`)
    .join(', ')}, declared = x.declared, code = x.code, overrides = x.overrides,
         cool_until = CASE WHEN x.cool_ms IS NULL THEN q.cool_until ELSE given.now + x.cool_ms END
    FROM given, json_to_recordset(p -> 'queues') AS x(name text, ${TYPED}, declared bool, code json, overrides json, cool_ms int8)
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

/**
 * Checks that all limits exist and runs `work` in the transaction that locks them. Without limits, `work`
 * gets no transaction.
 */
async function withLimits<T>(
  context: Context,
  limits: readonly string[],
  work: (query: Query | null) => Promise<T>,
): Promise<T> {
  if (limits.length === 0) return work(null)
  return context.connection.transaction(async (query) => {
    const rows = await run(context, query, NAMED_LIMITS, `"limits":${JSON.stringify(limits)}`)
    const found = new Set(rows.map((row) => row['name']))
    const missing = limits.find((limit) => !found.has(limit))
    if (missing !== undefined) throw limitUnknown(missing)
    const perKey = rows.find((row) => row['per_key'] === true)
    if (perKey !== undefined) throw perKeyOnQueue(perKey['name'] as string)
    return work(query)
  })
}

/** A start without changes reads once and takes no locks. */
export async function declareQueues(context: Context, queues: readonly DeclaredQueue[]): Promise<void> {
  if (queues.length === 0) return
  const limits = queues.flatMap(({ settings }) => settings?.limit ?? [])
  const names = [...new Set(queues.map(({ name }) => name))].toSorted()
  // If a name is declared twice, the last declaration wins.
  const code = new Map(queues.flatMap(({ name, settings }) => (settings === null ? [] : [[name, settings]])))
  const changed = await withLimits(context, limits, async (query) => {
    const known = await rowsOf(context, query ?? context.connection.query, FIND, names)
    if (known.length === names.length && known.every((row) => redeclare(row, code) === undefined)) return []
    return inTransaction(context, query, (inside) => declareAll(context, inside, names, code))
  })
  if (changed.length > 0) context.notify(changed.map((queue) => ({ queue, jobs: null })))
}

/** Returns the queues whose effective settings changed. */
async function declareAll(
  context: Context,
  query: Query,
  names: readonly string[],
  code: ReadonlyMap<string, Partial<QueueSettings>>,
): Promise<string[]> {
  const defaults = columns(DEFAULT_QUEUE_SETTINGS)
  const fields = { queues: names.map((name) => ({ name })), defaults }
  const added = await run(context, query, ADD, JSON.stringify(fields).slice(1, -1))
  const rows = await rowsOf(context, query, LOCK, names)
  const news = rows.flatMap((row) => redeclare(row, code) ?? [])
  await save(context, query, news)
  const changed = news.filter(({ name, settings }) => {
    const before = rows.find((row) => row['name'] === name)
    return before !== undefined && !isSameQueue(settings, settingsOf(before))
  })
  if (added.length + changed.length > 0) await query(context.sql(SETTINGS_CHANGED), [])
  return changed.map(({ name }) => name)
}

/** Undefined if the settings from code are unchanged. */
function redeclare(row: Row, declared: ReadonlyMap<string, Partial<QueueSettings>>): Saved | undefined {
  const name = row['name'] as string
  const code = declared.get(name)
  if (code === undefined) return undefined
  const sources = { code, overrides: queueSources(row).overrides }
  const settings = effectiveQueue(sources)
  const isSame = row['code'] === JSON.stringify(code) && isSameQueue(settings, settingsOf(row))
  return isSame ? undefined : { name, settings, sources }
}

export async function changeQueue(
  context: Context,
  name: string,
  patch: QueuePatch,
  by?: string,
): Promise<QueueRecord> {
  const { limit } = patch.settings
  const row = await withLimits(context, typeof limit === 'string' ? [limit] : [], (query) =>
    inTransaction(context, query, async (inside) => {
      const known = await lockOne(context, inside, name)
      const stamp = { by: by ?? null, at: known['now'] as number }
      const sources = overrideQueue(queueSources(known), patch.settings, stamp)
      const saved = { name, settings: effectiveQueue(sources), sources, coolMs: patch.coolMs }
      const [after] = await save(context, inside, [saved])
      await inside(context.sql(SETTINGS_CHANGED), [])
      return after
    }),
  )
  if (row === undefined) throw queueUnknown(name)
  context.notify([{ queue: name, jobs: null }])
  return recordOf(row)
}

export async function resetQueueOverrides(
  context: Context,
  name: string,
  options: readonly string[] | null,
): Promise<string[]> {
  const [known] = await rowsOf(context, context.connection.query, FIND, [name])
  if (known === undefined) throw queueUnknown(name)
  // The limit named by code may have been deleted since.
  const { limit } = effectiveQueue(resetQueue(queueSources(known), options))
  const dropped = await withLimits(context, limit === null ? [] : [limit], (query) =>
    inTransaction(context, query, async (inside) => {
      const before = queueSources(await lockOne(context, inside, name))
      const sources = resetQueue(before, options)
      const gone = droppedOptions(before.overrides, sources.overrides)
      if (gone.length === 0) return gone
      await save(context, inside, [{ name, settings: effectiveQueue(sources), sources }])
      await inside(context.sql(SETTINGS_CHANGED), [])
      return gone
    }),
  )
  if (dropped.length > 0) context.notify([{ queue: name, jobs: null }])
  return dropped
}

export async function overridesOfQueues(context: Context): Promise<OverrideRecord[]> {
  const rows = await run(context, context.connection.query, ALL_SOURCES, '')
  return rows.flatMap((row) => queueOverrides(row['name'] as string, queueSources(row)))
}

function inTransaction<T>(
  context: Context,
  query: Query | null,
  work: (query: Query) => Promise<T>,
): Promise<T> {
  return query === null ? context.connection.transaction(work) : work(query)
}

async function lockOne(context: Context, query: Query, name: string): Promise<Row> {
  const [row] = await rowsOf(context, query, LOCK, [name])
  if (row === undefined) throw queueUnknown(name)
  return row
}

function rowsOf(
  context: Context,
  query: Query,
  statement: string,
  names: readonly string[],
): Promise<readonly Row[]> {
  return run(context, query, statement, `"names":${JSON.stringify(names)}`)
}

interface Saved {
  readonly name: string
  readonly settings: QueueSettings
  readonly sources: QueueSources
  readonly coolMs?: number | null
}

async function save(context: Context, query: Query, queues: readonly Saved[]): Promise<readonly Row[]> {
  if (queues.length === 0) return []
  const rows = queues.map(({ name, settings, sources, coolMs = null }) => ({
    name,
    ...columns(settings),
    ...sourceColumns(sources),
    cool_ms: coolMs,
  }))
  return run(context, query, SAVE, `"queues":${JSON.stringify(rows)}`)
}

export async function queues(context: Context): Promise<QueueRecord[]> {
  const read = async (): Promise<QueueRecord[]> =>
    (await run(context, context.connection.query, QUEUES, '')).map((row) => recordOf(row))
  const found = await read()
  return (await context.names.putBackQueues(new Set(found.map(({ name }) => name)))) ? read() : found
}
