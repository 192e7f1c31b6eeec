/** Registers and deregisters instances, and reads their state and leases. */
import { onDeadKind } from '../../job/attempt/on-dead.ts'
import { outcomeCode } from '../../job/attempt/outcome.ts'
import { STATE_CODE } from '../../job/state.ts'
import type { Held } from '../../store/types/claim.ts'
import type { InstanceRecord, NewInstance } from '../../store/types/instance.ts'
import { type Context, run } from '../context.ts'
import { freedFor, GIVEN_CTE, KEYED, NOW, queueName } from '../fragments.ts'
import { HANDED_BACK } from './hand-back.ts'
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

const STOP = `
WITH ${GIVEN_CTE}
UPDATE jobmill.instance SET ended_at = ${NOW}, lost = false
 WHERE id = (SELECT (p ->> 'instance')::uuid FROM given) AND ended_at IS NULL
RETURNING id`

/**
 * Uses the index on `running.instance`. Skips jobs that an open user transaction is finishing; the reaper
 * handles those. If this call stopped the instance, it also removes the other rows of the instance.
 */
const HAND_BACK = `
WITH ${GIVEN_CTE}, over AS MATERIALIZED (
  SELECT (p ->> 'instance')::uuid AS id FROM given WHERE (p ->> 'stopped')::bool
), gone AS (
  DELETE FROM jobmill.running WHERE id = ANY (ARRAY(
    SELECT h.id FROM jobmill.running AS h WHERE h.instance = (SELECT (p ->> 'instance')::uuid FROM given) FOR UPDATE SKIP LOCKED))
  RETURNING *, CASE WHEN cancel_reason IS NULL THEN ${STATE_CODE.ready} ELSE ${STATE_CODE.cancelled} END AS state,
            crashes AS crashes_now
), recorded AS (
  SELECT *, ${outcomeCode('cancelled')} AS outcome FROM gone WHERE state = ${STATE_CODE.cancelled}
), ${HANDED_BACK}, ${MEMBER_LEFT}
SELECT g.id, ${queueName('g.queue_id')} AS queue, g.state, ${freedFor('permit_freed', 'others_freed')} AS freed FROM given LEFT JOIN gone AS g ON true`

const INSTANCES = `
WITH ${GIVEN_CTE}
SELECT i.id, i.label, i.version, i.queues, i.kinds, i.on_dead, i.capacity, i.started_at, i.renewed_at, i.expires_at, i.ended_at,
       CASE WHEN i.lost THEN 'lost' WHEN i.ended_at IS NOT NULL THEN 'stopped'
            WHEN i.expires_at <= g.now THEN 'expired' ELSE 'alive' END AS state
  FROM jobmill.instance AS i, given AS g ORDER BY i.id`

/** Uses the index on `running.instance`. */
const HELD = `
WITH ${GIVEN_CTE}
SELECT r.id, r.token, g.now - r.started_at AS age_ms, r.flags, r.tries, r.cancel_reason IS NOT NULL AS is_cancelled,
       CASE WHEN r.flags & ${KEYED} <> 0 THEN (SELECT j.hold_ms FROM jobmill.job AS j WHERE j.id = r.id) END AS hold_ms,
       (SELECT j.tags IS NOT NULL FROM jobmill.job AS j WHERE j.id = r.id) AS has_tags,
       (SELECT true FROM jobmill.attempt AS a WHERE a.job_id = r.id LIMIT 1) AS has_attempts
  FROM given AS g, jobmill.running AS r WHERE r.instance = (g.p ->> 'instance')::uuid ORDER BY r.id`

/**
 * Creates the kinds of its follow-ups in advance, so that a reaper does not have to create them in its
 * transaction.
 */
export async function register(context: Context, instance: NewInstance): Promise<void> {
  const { id, label, version, queues, kinds, onDead, capacity, leaseMs } = instance
  await context.names.ensure(new Set(), new Set(onDead.map(onDeadKind)))
  const known = { id, label, version, queues, kinds, on_dead: onDead, capacity, lease_ms: leaseMs }
  const text = JSON.stringify(known)
  const counts = readyCounts()
  await context.connection.transaction(async (query) => {
    await run(context, query, REGISTER, `"instance":${text}`)
    await takeCrashesBack(context, query, instance, counts)
    await query(context.sql(MEMBERS_CHANGED), [])
  })
  notifyFor(context, counts)
}

/**
 * Runs two statements in one transaction, so that the second sees every claim before the stop. The reaper
 * returns jobs of a claim that was still in flight.
 */
export async function deregister(context: Context, instance: string): Promise<number> {
  const field = `"instance":${JSON.stringify(instance)}`
  const counts = readyCounts()
  const rows = await context.connection.transaction(async (query) => {
    const hasStopped = (await run(context, query, STOP, field)).length > 0
    const handedBack = await run(context, query, HAND_BACK, `${field},"stopped":${hasStopped}`)
    if (!hasStopped) await takeCrashesBack(context, query, { id: instance }, counts)
    if (hasStopped) await query(context.sql(MEMBERS_CHANGED), [])
    return handedBack
  })
  counts.addFreed(rows)
  const jobs = rows.filter((row) => row['id'] !== null)
  for (const row of jobs) if (row['state'] === STATE_CODE.ready) counts.add(row['queue'], 1)
  notifyFor(context, counts)
  return jobs.length
}

export async function instances(context: Context): Promise<InstanceRecord[]> {
  const rows = await run(context, context.connection.query, INSTANCES, '')
  return rows.map((row) => ({
    id: row['id'] as string,
    label: row['label'] as string | null,
    version: row['version'] as string | null,
    queues: row['queues'] as string[],
    kinds: row['kinds'] as string[],
    onDead: row['on_dead'] as string[],
    capacity: row['capacity'] as number,
    state: row['state'] as InstanceRecord['state'],
    startedAt: row['started_at'] as number,
    renewedAt: row['renewed_at'] as number,
    expiresAt: row['expires_at'] as number,
    endedAt: row['ended_at'] as number | null,
  }))
}

export async function held(context: Context, instance: string): Promise<Held[]> {
  const rows = await run(context, context.connection.query, HELD, `"instance":${JSON.stringify(instance)}`)
  return rows.map((row) => ({
    id: row['id'] as string,
    token: row['token'] as number,
    ageMs: row['age_ms'] as number,
  }))
}
