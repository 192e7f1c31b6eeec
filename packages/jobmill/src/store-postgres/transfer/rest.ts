/** Exports and imports queues, limits, schedules, versions, alerts, views and sequences. */
import type { TransferredGroup, TransferredRest } from '../../store/admin/transfer.ts'
import { alerts as allAlerts, replaceAlerts } from '../alerts/alerts.ts'
import { ask, askWith, columnsOf, type Context, inTransaction } from '../context.ts'
import { GIVEN_CTE, SETTINGS_CHANGED } from '../fragments.ts'
import { versionsIn, versionsOut } from '../inspect/versions.ts'
import { deleteKeysOf } from '../limits/limit-keys.ts'
import { LIMIT_COLUMNS, limitOf, settingsColumns } from '../limits/limit-rows.ts'
import { COLUMNS, columns, settingsOf, sourcesOf, TYPED } from '../queues/queue-rows.ts'
import { createRows, saveRows, storedOf } from '../schedules/schedule-row.ts'
import { replaceViews, views as allViews } from '../views/views.ts'

const QUEUE_COLUMNS = [...COLUMNS, 'code', 'overrides', 'cool_until', 'throttles']
const excluded = (names: readonly string[]): string =>
  names.map((name) => `${name} = excluded.${name}`).join(', ')

const QUEUES_OUT = `
SELECT q.name, ${QUEUE_COLUMNS.map((name) => `q.${name}`).join(', ')} FROM jobmill.queue AS q ORDER BY q.name COLLATE "C"`
const LIMITS_OUT = `SELECT ${LIMIT_COLUMNS}, l.code, l.overrides FROM jobmill.limit AS l WHERE l.key = '' ORDER BY l.name COLLATE "C"`
const SCHEDULES_OUT = `SELECT s.* FROM jobmill.schedule AS s ORDER BY s.name COLLATE "C"`

/**
 * 0 for a sequence that was never used. The sequence of tokens counts claims, so that a target that has run
 * jobs is recognized; the tables have the tokens, which are times. Reads whole tables.
 */
const COUNTERS_OUT = `
SELECT coalesce(pg_sequence_last_value('jobmill.seq'::regclass), 0) AS place,
       greatest(pg_sequence_last_value('jobmill.token'::regclass), (SELECT max(token) FROM jobmill.running), (SELECT max(token) FROM jobmill.batch),
                (SELECT max(token) FROM jobmill.attempt), 0) AS token`

/** Uses the unique names. */
const QUEUES_IN = `
WITH ${GIVEN_CTE}
INSERT INTO jobmill.queue (name, ${QUEUE_COLUMNS.join(', ')})
SELECT x.name, ${QUEUE_COLUMNS.map((name) => `x.${name}`).join(', ')}
  FROM given, json_to_recordset(p -> 'queues') AS x(name text, ${TYPED}, code json, overrides json, cool_until int8, throttles int4) ORDER BY x.name
ON CONFLICT (name) DO UPDATE SET ${excluded(QUEUE_COLUMNS)}`

const LIMIT_STATE =
  'amount, per_ms, burst, most, per_key, paid_at, reserved_until, drained_until, code, overrides'
const LIMITS_IN = `
WITH ${GIVEN_CTE}, input AS MATERIALIZED (
  SELECT x.* FROM given, json_to_recordset(p -> 'limits') AS x(
    name text, amount int4, per_ms int8, burst int4, most int4, per_key bool, paid_at float8, reserved_until float8, drained_until float8,
    code json, overrides json)
), forgotten AS (
  DELETE FROM jobmill.limit_waiter WHERE limit_name = ANY (ARRAY(SELECT name FROM input))
), begin_full AS (
  ${deleteKeysOf('input')}
)
INSERT INTO jobmill.limit (name, ${LIMIT_STATE}) SELECT name, ${LIMIT_STATE} FROM input ORDER BY name
ON CONFLICT (name, key) DO UPDATE SET ${excluded(LIMIT_STATE.split(', '))}`

const GROUPS_OUT = `
SELECT q.name AS queue, g.name, g.weight, g.concurrency, g.rate, g.rate_per_ms AS "ratePerMs", g.paused, g.changed_by AS by, g.changed_at AS at
  FROM jobmill.job_group AS g JOIN jobmill.queue AS q ON q.id = g.queue_id WHERE g.changed_at IS NOT NULL ORDER BY q.name COLLATE "C", g.name COLLATE "C"`
const GROUPS_IN = `
WITH ${GIVEN_CTE}
INSERT INTO jobmill.job_group (queue_id, name, first_place, weight, concurrency, rate, rate_per_ms, paused, changed_by, changed_at)
SELECT q.id, x.name, jobmill.group_start(q.id, x.name), x.weight, x.concurrency, x.rate, x."ratePerMs", x.paused, x.by, x.at
  FROM given, json_to_recordset(p -> 'groups') AS x(queue text, name text, weight float8, concurrency int4, rate int4, "ratePerMs" int8, paused bool, by text, at int8)
  JOIN jobmill.queue AS q ON q.name = x.queue ORDER BY q.id, x.name
ON CONFLICT (queue_id, name) DO UPDATE SET ${excluded(['weight', 'concurrency', 'rate', 'rate_per_ms', 'paused', 'changed_by', 'changed_at'])}`

/**
 * Sequences are not transactional, but no other process uses them during a transfer, and the value only
 * rises.
 */
const raise = (sequence: string): string => `
SELECT setval('jobmill.${sequence}', $1::int8) WHERE $1::int8 > coalesce(pg_sequence_last_value('jobmill.${sequence}'::regclass), 0)`

export async function restOut(context: Context): Promise<TransferredRest> {
  const queues = await askWith(context, QUEUES_OUT)
  const limits = await askWith(context, LIMITS_OUT)
  const schedules = await askWith(context, SCHEDULES_OUT)
  const [counters] = await askWith(context, COUNTERS_OUT)
  return {
    queues: queues.map((row) => ({
      name: row['name'] as string,
      settings: settingsOf(row),
      sources: sourcesOf(row),
      coolUntil: row['cool_until'] as number,
      throttles: row['throttles'] as number,
    })),
    limits: limits.map((row) => {
      const { name, settings, state } = limitOf(row)
      const { paidAt, drainedUntil } = state
      return { name, settings, sources: sourcesOf(row), paidAt, drainedUntil }
    }),
    groups: await askWith<TransferredGroup>(context, GROUPS_OUT),
    schedules: schedules.map(storedOf),
    versions: await versionsOut(context),
    alerts: await allAlerts(context),
    views: await allViews(context),
    lastPlace: Number(counters?.['place']),
    lastToken: Number(counters?.['token']),
  }
}

export async function restIn(context: Context, rest: TransferredRest): Promise<void> {
  const queues = rest.queues.map(({ settings, sources, ...queue }) => ({
    ...columnsOf(queue),
    ...columns(settings),
    ...sources,
  }))
  const limits = rest.limits.map(({ settings, sources, ...state }) => ({
    ...settingsColumns(settings),
    ...columnsOf(state),
    reserved_until: 0,
    ...sources,
  }))
  await inTransaction(context, async (inside) => {
    // Limits come before the queues that use them.
    await ask(inside, LIMITS_IN, { limits })
    await ask(inside, QUEUES_IN, { queues })
    await ask(inside, GROUPS_IN, { groups: rest.groups })
    await createRows(inside, rest.schedules)
    await saveRows(inside, rest.schedules)
    await versionsIn(inside, rest.versions)
    await replaceAlerts(inside, rest.alerts)
    await replaceViews(inside, rest.views)
    await askWith(inside, raise('seq'), [rest.lastPlace])
    await askWith(inside, raise('token'), [rest.lastToken])
    await askWith(inside, SETTINGS_CHANGED)
  })
}
