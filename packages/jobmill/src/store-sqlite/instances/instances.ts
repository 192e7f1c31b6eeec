/** Registers and deregisters instances, and reads them. */
import { parseKind } from '../../job/kind/kind-name.ts'
import type { Held } from '../../store/types/claim.ts'
import type { InstanceRecord, InstanceRequest, NewInstance } from '../../store/types/instance.ts'
import { instanceEnded, instanceUnknown } from '../../store/cluster-errors.ts'
import { recordRevoked } from '../finish/attempts.ts'
import { dropSlots, letGo } from './duties.ts'
import type { Sql } from '../connection/handle.ts'
import { CANCELLED, type JobRow, ROW } from '../job-row.ts'
import { endJob, putBack, refundAttempt } from '../finish/leave-running.ts'
import { takeCrashesBack } from './lost-jobs.ts'
import { freeInstance } from '../limits/permits.ts'
import { cancelChildren } from '../operate/actions.ts'
import type { Look, Work } from '../work.ts'

/** Stored in rows: never renumber. `expired` is not stored: it follows from the clock. */
export const [ALIVE, LOST, STOPPED] = [0, 1, 2] as const

// Uses the unique id. Keeps the primary key, which running jobs refer to.
const REGISTER = `
  INSERT INTO jobmill_instance (id, label, version, queues, kinds, on_dead, capacity, state, started_at, renewed_at,
    expires_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET label = excluded.label, version = excluded.version, queues = excluded.queues,
    kinds = excluded.kinds, on_dead = excluded.on_dead, capacity = excluded.capacity, state = 0,
    started_at = excluded.started_at, renewed_at = excluded.renewed_at, expires_at = excluded.expires_at, ended_at = NULL`
// Uses the primary key, and writes only changes.
const FOLLOW = `UPDATE jobmill_kind SET on_cancelled = ? WHERE id = ? AND on_cancelled <> ?`
const FIND = `SELECT pk, state FROM jobmill_instance WHERE id = ?`
const END = `UPDATE jobmill_instance SET state = ?, ended_at = ? WHERE pk = ?`

// Both queries read one range of the index jobmill_job_running.
const RUNNING_UNDER = `
  SELECT ${ROW} FROM jobmill_job INDEXED BY jobmill_job_running WHERE state = 2 AND instance_pk = ?
  ORDER BY started_at, id`
const HELD = `
  SELECT id, token, ? - started_at AS ageMs
  FROM jobmill_job INDEXED BY jobmill_job_running WHERE state = 2 AND instance_pk = ?
  ORDER BY started_at, id`

// Reads all rows: the live instances, and those that ended in about the last hour.
const ALL = `
  SELECT id, label, version, queues, kinds, on_dead AS onDead, capacity,
    CASE state WHEN ${ALIVE} THEN iif(expires_at > ?, 'alive', 'expired') WHEN ${LOST} THEN 'lost' ELSE 'stopped' END AS state,
    started_at AS startedAt, renewed_at AS renewedAt, expires_at AS expiresAt, ended_at AS endedAt,
    requested, requested_by AS requestedBy, requested_at AS requestedAt
  FROM jobmill_instance`
const LIST = `${ALL} ORDER BY id`

// Uses the unique id.
const ONE = `${ALL} WHERE id = ?`
const REQUEST = `UPDATE jobmill_instance SET requested = ?, requested_by = ?, requested_at = ? WHERE id = ?`

type Lists = 'queues' | 'kinds' | 'onDead'
/** Lists are JSON. */
type InstanceRow = Omit<InstanceRecord, Lists> & Readonly<Record<Lists, string>>

export function register(work: Work, instance: NewInstance): void {
  const { sql, now, counters } = work
  const { id, label, version, queues, kinds, onDead, capacity, leaseMs } = instance
  followCancels(work, instance)
  sql(REGISTER).run(
    id,
    label,
    version,
    JSON.stringify(queues),
    JSON.stringify(kinds),
    JSON.stringify(onDead),
    capacity,
    now,
    now,
    now + leaseMs,
  )
  counters.take('members')
  const { pk } = sql(FIND).get(id) as { pk: number }
  takeCrashesBack(work, pk, instance.stoodStill)
}

/**
 * Includes the versions of a kind, which are created here, so that claims find them. An instance that
 * registers again changes nothing: it may have an earlier release than those that registered since.
 */
function followCancels({ sql, names }: Work, { id, kinds, onCancelled = [] }: NewInstance): void {
  const isNew = sql(FIND).get(id) === undefined
  for (const name of kinds) {
    const [kindId, follows] = [names.needKind(name), Number(onCancelled.includes(parseKind(name).kind))]
    if (isNew) sql(FOLLOW).run(follows, kindId, follows)
  }
}

/** Stops an instance and returns its jobs to their places; requested cancels are carried out. */
export function deregister(work: Work, id: string): number {
  const instance = work.sql(FIND).get(id) as { pk: number; state: number } | undefined
  if (instance === undefined) return 0
  if (instance.state === ALIVE) endInstance(work, instance.pk, STOPPED)
  // The process ends in an orderly way, so it was alive when it was reaped.
  else takeCrashesBack(work, instance.pk)
  const jobs = runningUnder(work.sql, instance.pk)
  for (const job of jobs) handBack(work, job)
  // After all rows were handed back: the children may be among them.
  for (const job of jobs) if (job.cancel_reason !== null) cancelChildren(work, job)
  return jobs.length
}

function handBack(work: Work, job: JobRow): void {
  const attempt = refundAttempt(job.attempt)
  if (job.cancel_reason === null) return putBack(work, job, { ...job, attempt })
  recordRevoked(work.sql, job, { outcome: 'cancelled', error: job.cancel_reason, endedAt: work.now })
  const { crashes, records, cancel_reason: error } = job
  endJob(work, job, CANCELLED, { attempt, crashes, records: records + 1, error })
}

/** Releases everything that the instance holds except its jobs, which the caller moves. */
export function endInstance(work: Work, pk: number, state: typeof LOST | typeof STOPPED): void {
  work.sql(END).run(state, work.now, pk)
  work.counters.take('members')
  letGo(work, pk)
  dropSlots(work, pk)
  freeInstance(work, pk)
}

export function runningUnder(sql: Sql, instancePk: number): JobRow[] {
  return sql(RUNNING_UNDER).all(instancePk) as JobRow[]
}

export function instances({ sql, now }: Look): InstanceRecord[] {
  return (sql(LIST).all(now) as InstanceRow[]).map(recordOf)
}

function recordOf(row: InstanceRow): InstanceRecord {
  return {
    ...row,
    queues: JSON.parse(row.queues) as string[],
    kinds: JSON.parse(row.kinds) as string[],
    onDead: JSON.parse(row.onDead) as string[],
  }
}

/** Stores the request of an operator. An instance that was asked to stop releases its duties. */
export function request(
  work: Work,
  id: string,
  requested: InstanceRequest | null,
  by: string,
): InstanceRecord {
  const { sql, now, counters } = work
  const row = sql(ONE).get(now, id) as InstanceRow | undefined
  if (row === undefined) throw instanceUnknown(id)
  if (row.state === 'lost' || row.state === 'stopped') throw instanceEnded(id, row.state)
  if (row.requested === requested) return recordOf(row)
  if (row.requested === 'stop') throw instanceEnded(id, 'stopping')
  const isNone = requested === null
  sql(REQUEST).run(requested, isNone ? null : by, isNone ? null : now, id)
  if (requested === 'stop') letGo(work, (sql(FIND).get(id) as { pk: number }).pk)
  counters.take('members')
  return recordOf(sql(ONE).get(now, id) as InstanceRow)
}

export function held({ sql, now }: Look, id: string): Held[] {
  const instance = sql(FIND).get(id) as { pk: number } | undefined
  return instance === undefined ? [] : (sql(HELD).all(now, instance.pk) as Held[])
}
