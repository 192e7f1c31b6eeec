/** Counts of jobs: per queue and state, before a ready job, and of kinds that no instance serves. */
import { startAt } from '../groups/turns.ts'
import { parseKind } from '../../job/kind/kind-name.ts'
import { JOB_STATES, type JobState, STATE_CODE } from '../../job/state.ts'
import {
  POSITION_MOST,
  type QueueCounts,
  type UnservedKind,
  UNSERVED_ROWS,
} from '../../store/types/queue-record.ts'
import { countBefore, countReady, oldestReadyAt, readyLanes } from '../claim/ready-lanes.ts'
import type { Look } from '../work.ts'

// Counter rows instead of jobs: six per queue, each by primary key.
const countOf = (state: JobState): string => `
  coalesce((SELECT c.n FROM jobmill_count AS c WHERE c.queue_id = q.id AND c.state = ${STATE_CODE[state]}), 0) AS ${state}`
const COUNTS = `
  SELECT q.id, q.name AS queue, ${JOB_STATES.map(countOf).join()} FROM jobmill_queue AS q ORDER BY q.name`

/** The number of jobs per queue and state. */
export function counts({ sql, now }: Look): QueueCounts[] {
  const rows = sql(COUNTS).all() as (Omit<QueueCounts, 'oldestReadyMs'> & { readonly id: number })[]
  return rows.map(({ id, ...row }) => {
    const readyAt = row.ready === 0 ? null : oldestReadyAt(sql, id)
    return { ...row, oldestReadyMs: readyAt === null ? null : now - readyAt }
  })
}

// Uses jobmill_job_id.
const PLACE = `SELECT queue_id, priority, seq FROM jobmill_job WHERE id = ? AND state = 1`

/**
 * How many ready jobs would be claimed before one. Each kind of the queue has its own lane, which is counted
 * up to this job.
 */
export function position({ sql, names }: Look, id: string, kinds?: readonly string[]): number | null {
  const place = sql(PLACE).get(id) as Readonly<Record<'queue_id' | 'priority' | 'seq', number>> | undefined
  if (place === undefined) return null
  // In a fair queue, the jobs of other groups do not delay this one.
  const first = place.seq < 0 ? { priority: place.priority, seq: startAt(place.seq) } : undefined
  let jobs = 0
  for (const { index, kindId } of readyLanes(sql, place.queue_id)) {
    if (jobs >= POSITION_MOST) return POSITION_MOST
    if (kinds !== undefined && !kinds.includes(names.storedKind(kindId))) continue
    const end = { queueId: place.queue_id, kindId, ...place }
    jobs += countBefore(sql, index, end, POSITION_MOST - jobs, first)
  }
  return jobs
}

const QUEUES = `SELECT id, name FROM jobmill_queue ORDER BY name`

// Reads the part of jobmill_instance_expiry after now: one row per live process.
const ALIVE = `
  SELECT queues, kinds FROM jobmill_instance INDEXED BY jobmill_instance_expiry WHERE state = 0 AND expires_at > ? AND requested IS NULL`

/**
 * Kinds with ready jobs for which no live instance has a worker. Skips from kind to kind, so that only jobs
 * without a worker are counted, up to a bound per kind.
 */
export function unservedKinds({ sql, now, names }: Look): UnservedKind[] {
  const rows = sql(ALIVE).all(now) as { queues: string; kinds: string }[]
  const alive = rows.map(({ queues, kinds }) => ({
    queues: new Set(JSON.parse(queues) as string[]),
    kinds: new Set(JSON.parse(kinds) as string[]),
  }))
  return (sql(QUEUES).all() as { id: number; name: string }[]).flatMap(({ id, name: queue }) => {
    const kindIds = new Set([...readyLanes(sql, id)].map(({ kindId }) => kindId))
    return [...kindIds]
      .map((kindId) => ({ kindId, stored: names.storedKind(kindId) }))
      .filter(({ stored }) => !alive.some(({ queues, kinds }) => queues.has(queue) && kinds.has(stored)))
      .toSorted((a, b) => (a.stored < b.stored ? -1 : 1))
      .map(({ kindId, stored }) => ({
        queue,
        ...parseKind(stored),
        jobs: countReady(sql, id, kindId, UNSERVED_ROWS),
      }))
  })
}
