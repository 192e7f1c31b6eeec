/** Queues and their live settings. */
import { type QueuePatch, type QueueSettings, saysMore } from '../job/queue-settings.ts'
import { limitUnknown, perKeyOnQueue } from '../store/cluster-errors.ts'
import { type QueueRecord, queueUnknown } from '../store/queue-record.ts'
import type { Query, Row } from './connection.ts'
import { type Context, run } from './context.ts'
import { GIVEN, NOW, SETTINGS_CHANGED } from './fragments.ts'

export const COLUMN: Readonly<Record<keyof QueueSettings, string>> = {
  workers: 'workers',
  paused: 'paused',
  backoffEnabled: 'backoff_enabled',
  backoffBaseMs: 'backoff_base_ms',
  backoffMaxMs: 'backoff_max_ms',
  retainDoneMs: 'retain_done_ms',
  retainCancelledMs: 'retain_cancelled_ms',
  retainDeadMs: 'retain_dead_ms',
  keepDone: 'keep_done',
  keepCancelled: 'keep_cancelled',
  keepDead: 'keep_dead',
  limit: 'limit_name',
}
const COLUMNS = Object.values(COLUMN).join(', ')
export const TYPED = `workers int4, paused bool, backoff_enabled bool, backoff_base_ms int8, backoff_max_ms int8,
  retain_done_ms int8, retain_cancelled_ms int8, retain_dead_ms int8, keep_done int4, keep_cancelled int4, keep_dead int4,
  limit_name text`
const BUMP = `bumped AS (${SETTINGS_CHANGED}`

/** What somebody said before stays: an operator may have changed it. */
const DECLARE = `
WITH ${GIVEN}, added AS (
  INSERT INTO jobmill.queue AS q (name, ${COLUMNS}, declared)
  SELECT x.name, ${COLUMNS}, x.declared FROM given, json_to_recordset(p -> 'queues') AS x(name text, declared bool, ${TYPED})
   WHERE NOT EXISTS (SELECT FROM jobmill.queue AS k WHERE k.name = x.name AND (k.declared OR NOT x.declared)) ORDER BY x.name
  ON CONFLICT (name) DO UPDATE SET ${Object.values(COLUMN)
    .map((column) => `${column} = excluded.${column}`)
    .join(', ')}, declared = true
   WHERE NOT q.declared AND excluded.declared
  RETURNING q.id
), ${BUMP} WHERE EXISTS (SELECT FROM added))
SELECT`

const RECORD = `q.name, ${Object.values(COLUMN)
  .map((column) => `q.${column}`)
  .join(', ')}, q.throttles,
  greatest(q.cool_until - ${NOW}, 0) AS cooling_ms`

/** Sets only the columns that the patch names, so two operators who change different settings do not undo each other. */
const CHANGE = `
WITH ${GIVEN}, q AS (
  UPDATE jobmill.queue AS q SET ${Object.values(COLUMN)
    .map((column) => `${column} = CASE WHEN s.p ? '${column}' THEN x.${column} ELSE q.${column} END`)
    .join(',\n    ')},
    declared = true,
    cool_until = CASE WHEN g.p ->> 'cool_ms' IS NULL THEN q.cool_until ELSE g.now + (g.p ->> 'cool_ms')::int8 END
    FROM given AS g, LATERAL (SELECT (g.p -> 'settings')::jsonb AS p) AS s, LATERAL json_to_record(g.p -> 'settings') AS x(${TYPED})
   WHERE q.name = g.p ->> 'name'
  RETURNING q.*
), ${BUMP} WHERE EXISTS (SELECT FROM q))
SELECT ${RECORD} FROM q`

const QUEUES = `
WITH ${GIVEN}
SELECT ${RECORD} FROM jobmill.queue AS q ORDER BY q.name COLLATE "C"`

/** Kept from being deleted until the queue that names it is written: a delete looks for such queues once it has the row for itself. */
const NAMED_LIMITS = `
WITH ${GIVEN}
SELECT l.name, l.per_key FROM jobmill.limit AS l
 WHERE l.name = ANY (ARRAY(SELECT json_array_elements_text(p -> 'limits') FROM given)) ORDER BY l.name FOR SHARE`

/** Runs `work` once all limits are found to be there; without any it is one statement. */
async function withLimits(
  context: Context,
  limits: readonly string[],
  work: (query: Query) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  if (limits.length === 0) return work(context.connection.query)
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

export async function declareQueues(
  context: Context,
  queues: readonly { readonly name: string; readonly settings: QueueSettings }[],
): Promise<void> {
  if (queues.length === 0) return
  const byName = new Map(
    queues.map(({ name, settings }) => [name, { name, declared: saysMore(settings), ...columns(settings) }]),
  )
  const limits = queues.flatMap(({ settings }) => settings.limit ?? [])
  await withLimits(context, limits, (query) =>
    run(context, query, DECLARE, `"queues":${JSON.stringify([...byName.values()])}`),
  )
}

export async function changeQueue(context: Context, name: string, patch: QueuePatch): Promise<QueueRecord> {
  const fields = { name, settings: columns(patch.settings), cool_ms: patch.coolMs }
  const { limit } = patch.settings
  const [row] = await withLimits(context, typeof limit === 'string' ? [limit] : [], (query) =>
    run(context, query, CHANGE, JSON.stringify(fields).slice(1, -1)),
  )
  if (row === undefined) throw queueUnknown(name)
  context.ring([{ queue: name, jobs: null }])
  return recordOf(row)
}

export async function queues(context: Context): Promise<QueueRecord[]> {
  return (await run(context, context.connection.query, QUEUES, '')).map((row) => recordOf(row))
}

export function columns(settings: Partial<QueueSettings>): Record<string, unknown> {
  const entries = Object.entries(settings) as [keyof QueueSettings, unknown][]
  return Object.fromEntries(entries.map(([key, value]) => [COLUMN[key], value]))
}

function recordOf(row: Row): QueueRecord {
  return {
    name: row['name'] as string,
    ...settingsOf(row),
    coolingMs: row['cooling_ms'] as number,
    throttles: row['throttles'] as number,
  }
}

export function settingsOf(row: Row): QueueSettings {
  return {
    workers: row['workers'] as number | null,
    paused: row['paused'] as boolean,
    backoffEnabled: row['backoff_enabled'] as boolean,
    backoffBaseMs: row['backoff_base_ms'] as number,
    backoffMaxMs: row['backoff_max_ms'] as number,
    retainDoneMs: row['retain_done_ms'] as number | null,
    retainCancelledMs: row['retain_cancelled_ms'] as number | null,
    retainDeadMs: row['retain_dead_ms'] as number | null,
    keepDone: row['keep_done'] as number | null,
    keepCancelled: row['keep_cancelled'] as number | null,
    keepDead: row['keep_dead'] as number | null,
    limit: row['limit_name'] as string | null,
  }
}
