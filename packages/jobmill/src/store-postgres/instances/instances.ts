/** Registers and deregisters instances, and reads their state and leases. */
import { onCancelledKind } from '../../job/attempt/on-cancelled.ts'
import { onDeadKind } from '../../job/attempt/on-dead.ts'
import { outcomeCode } from '../../job/attempt/outcome.ts'
import { STATE_CODE } from '../../job/state.ts'
import type { Held } from '../../store/types/claim.ts'
import type { InstanceRecord, InstanceRequest, NewInstance } from '../../store/types/instance.ts'
import { instanceEnded, instanceUnknown } from '../../store/cluster-errors.ts'
import { unpack } from '../claim/unpack.ts'
import { ask, askOne, askWith, columnsOf, type Context, inTransaction, listOf } from '../context.ts'
import { batched, freedFor, GIVEN_CTE, NOW, queueName } from '../fragments.ts'
import { RETURN_JOBS } from './return-jobs.ts'
import { takeCrashesBack } from './lost-jobs.ts'
import { MEMBER_LEFT, MEMBERS_CHANGED } from './members.ts'
import { readyCounts, notifyFor } from '../enqueue/ready-counts.ts'

const REGISTER = `
WITH ${GIVEN_CTE}
  INSERT INTO jobmill.instance AS i (id, label, version, queues, kinds, on_dead, capacity, started_at, renewed_at, expires_at)
  SELECT x.id, x.label, x.version, x.queues, x.kinds, x.on_dead, x.capacity, g.now, g.now, g.now + x.lease_ms
    FROM given AS g, json_to_record(g.p -> 'instance')
         AS x(id uuid, label text, version text, queues text[], kinds text[], on_dead text[], capacity int4, lease_ms int8)
      ON CONFLICT (id) DO UPDATE SET label = excluded.label, version = excluded.version, queues = excluded.queues,
         kinds = excluded.kinds, on_dead = excluded.on_dead, capacity = excluded.capacity, started_at = excluded.started_at,
         renewed_at = excluded.renewed_at, expires_at = excluded.expires_at, ended_at = NULL, lost = NULL`

/**
 * Writes only changes. Includes the versions of a kind. Runs before REGISTER: an instance that registers
 * again changes nothing, because it may have an earlier release than those that registered since.
 */
const DECLARE_KINDS = `
WITH ${GIVEN_CTE}, input AS MATERIALIZED (
  SELECT k.id, split_part(k.name, '@', 1) IN (SELECT json_array_elements_text(p -> 'followed') FROM given) AS follows,
         coalesce((SELECT d.defaults::text FROM given, json_to_recordset(p -> 'defaults') AS d(kind text, defaults json) WHERE d.kind = k.name),
           k.defaults::text) AS defaults
    FROM jobmill.kind AS k WHERE k.name IN (SELECT json_array_elements_text(p -> 'kinds') FROM given)
     AND NOT EXISTS (SELECT FROM jobmill.instance AS i WHERE i.id = (SELECT (p ->> 'instance')::uuid FROM given))
)
UPDATE jobmill.kind AS k SET on_cancelled = i.follows, defaults = i.defaults::json FROM input AS i
 WHERE k.id = i.id AND (k.on_cancelled <> i.follows OR k.defaults::text IS DISTINCT FROM i.defaults)`

const STOP = `
WITH ${GIVEN_CTE}
UPDATE jobmill.instance SET ended_at = ${NOW}, lost = false
 WHERE id = (SELECT (p ->> 'instance')::uuid FROM given) AND ended_at IS NULL
RETURNING to_json(queues)::text AS queues`

/**
 * Uses the index on `running.instance`. Skips jobs that an open user transaction is finishing; the reaper
 * handles those. If this call stopped the instance, it also removes the other rows of the instance.
 */
const RELEASE = `
WITH ${GIVEN_CTE}, over AS MATERIALIZED (
  SELECT (p ->> 'instance')::uuid AS id FROM given WHERE (p ->> 'stopped')::bool
), gone AS (
  DELETE FROM jobmill.running WHERE id = ANY (ARRAY(
    SELECT h.id FROM jobmill.running AS h WHERE h.instance = (SELECT (p ->> 'instance')::uuid FROM given) FOR UPDATE SKIP LOCKED))
  RETURNING *, CASE WHEN cancel_reason IS NULL THEN ${STATE_CODE.ready} ELSE ${STATE_CODE.cancelled} END AS state,
            crashes AS crashes_now
), recorded AS (
  SELECT *, ${outcomeCode('cancelled')} AS outcome FROM gone WHERE state = ${STATE_CODE.cancelled}
), ${RETURN_JOBS}, ${MEMBER_LEFT}
SELECT g.id, ${queueName('g.queue_id')} AS queue, g.state, ${freedFor('permit_freed', 'others_freed')} AS freed FROM given LEFT JOIN gone AS g ON true`

const COLUMNS = `i.id, i.label, i.version, i.queues, i.kinds, i.on_dead AS "onDead", i.capacity, i.started_at AS "startedAt",
       i.renewed_at AS "renewedAt", i.expires_at AS "expiresAt", i.ended_at AS "endedAt",
       CASE WHEN i.lost THEN 'lost' WHEN i.ended_at IS NOT NULL THEN 'stopped'
            WHEN i.expires_at <= g.now THEN 'expired' ELSE 'alive' END AS state,
       i.requested, i.requested_by AS "requestedBy", i.requested_at AS "requestedAt"`

const INSTANCES = `
WITH ${GIVEN_CTE}
SELECT ${COLUMNS} FROM jobmill.instance AS i, given AS g ORDER BY i.id`

/** Uses the primary key. The lock orders requests of several operators, and a request with a stop. */
const LOCK = `
WITH ${GIVEN_CTE}
SELECT ${COLUMNS} FROM jobmill.instance AS i, given AS g WHERE i.id = (g.p ->> 'instance')::uuid FOR NO KEY UPDATE OF i`

/**
 * Uses the primary key; the row is locked. An instance that is asked to stop releases its duties. Locks them
 * in the order of their names, like heartbeats do.
 */
const REQUEST = `
WITH ${GIVEN_CTE}, left_behind AS MATERIALIZED (
  SELECT d.name FROM jobmill.duty AS d, given AS g
   WHERE g.p ->> 'request' = 'stop' AND d.leader = (g.p ->> 'instance')::uuid ORDER BY d.name FOR UPDATE OF d
), let_go AS (
  UPDATE jobmill.duty AS d SET leader = NULL, expires_at = NULL FROM left_behind AS b, given AS g
   WHERE d.name = b.name AND d.leader = (g.p ->> 'instance')::uuid
)
UPDATE jobmill.instance AS i
   SET requested = g.p ->> 'request', requested_by = CASE WHEN g.p ->> 'request' IS NOT NULL THEN g.p ->> 'by' END,
       requested_at = CASE WHEN g.p ->> 'request' IS NOT NULL THEN g.now END
  FROM given AS g WHERE i.id = (g.p ->> 'instance')::uuid
RETURNING ${COLUMNS}`

/** Uses the indexes on the instance of `running` and `batch`. */
const HELD = `
WITH ${GIVEN_CTE}
SELECT r.id, r.token, g.now - r.started_at AS "ageMs"
  FROM given AS g, jobmill.running AS r WHERE r.instance = (g.p ->> 'instance')::uuid
UNION ALL
SELECT m.id, m.token, g.now - m.started_at
  FROM given AS g, ${batched(`b.instance = (SELECT (p ->> 'instance')::uuid FROM given)`)} AS m ORDER BY 1`

/**
 * Creates its kinds and those of its follow-ups in advance, so that a reaper does not have to create them in
 * its transaction.
 */
export async function register(context: Context, instance: NewInstance): Promise<void> {
  const { onDead, onCancelled = [], kindDefaults = [] } = instance
  const kinds = [...new Set([...instance.kinds, ...kindDefaults.map(({ kind }) => kind)])]
  const defaults = kindDefaults.map(({ kind, ...rest }) => ({ kind, defaults: rest }))
  const followUps = [...onDead.map(onDeadKind), ...onCancelled.map(onCancelledKind)]
  await context.names.ensure(new Set(), new Set([...kinds, ...followUps]))
  const counts = readyCounts()
  // The other instances split the workers again.
  for (const queue of instance.queues) counts.addLook(queue)
  await inTransaction(context, async (inside) => {
    await ask(inside, DECLARE_KINDS, { instance: instance.id, kinds, followed: onCancelled, defaults })
    await ask(inside, REGISTER, { instance: columnsOf(instance) })
    await takeCrashesBack(inside, instance, counts)
    await askWith(inside, MEMBERS_CHANGED)
  })
  notifyFor(context, counts)
}

/**
 * Runs two statements in one transaction, so that the second sees every claim before the stop. The reaper
 * returns jobs of a claim that was still in flight.
 */
export async function deregister(context: Context, instance: string): Promise<number> {
  const counts = readyCounts()
  const rows = await inTransaction(context, async (inside) => {
    const [stop] = await ask(inside, STOP, { instance })
    const stopped = stop !== undefined
    // The other instances split the workers again, lead its duties, and run the jobs that it scheduled for
    // soon.
    for (const queue of listOf(stop?.['queues'])) counts.addLook(queue)
    await unpack(inside, inside.connection.query, { instances: [instance] })
    const released = await ask(inside, RELEASE, { instance, stopped })
    if (stopped) await askWith(inside, MEMBERS_CHANGED)
    else await takeCrashesBack(inside, { id: instance }, counts)
    return released
  })
  counts.addFreed(rows)
  const jobs = rows.filter((row) => row['id'] !== null)
  for (const row of jobs) if (row['state'] === STATE_CODE.ready) counts.add(row['queue'], 1)
  notifyFor(context, counts)
  return jobs.length
}

export function instances(context: Context): Promise<InstanceRecord[]> {
  return ask(context, INSTANCES)
}

export async function request(
  context: Context,
  instance: string,
  requested: InstanceRequest | null,
  by: string,
): Promise<InstanceRecord> {
  return inTransaction(context, async (inside) => {
    const [before] = await ask<InstanceRecord>(inside, LOCK, { instance })
    if (before === undefined) throw instanceUnknown(instance)
    if (before.state === 'lost' || before.state === 'stopped') throw instanceEnded(instance, before.state)
    if (before.requested === requested) return before
    if (before.requested === 'stop') throw instanceEnded(instance, 'stopping')
    const after = await askOne<InstanceRecord>(inside, REQUEST, { instance, request: requested, by })
    await askWith(inside, MEMBERS_CHANGED)
    return after
  })
}

export function held(context: Context, instance: string): Promise<Held[]> {
  return ask(context, HELD, { instance })
}
