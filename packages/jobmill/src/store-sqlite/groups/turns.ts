/**
 * Groups of queues: where their jobs are among the ready jobs, and which of them wait for their group.
 *
 * In a fair queue, the ready jobs of a group have consecutive places: the number of the group, then the last
 * bits of the sequence. These places are negative; jobs without a group have positive ones.
 */
import { HAS_PASSED, type JobRow } from '../job-row.ts'
import type { Look, Work } from '../work.ts'

/** Groups with a ready or waiting job, of all queues, before two of them share a number. */
const NUMBERS = 2 ** 22
export const PLACES = 2 ** 31
const LOWEST = -(2 ** 53)

// All use the primary key or the unique name.
const QUEUE = `SELECT group_fair, group_concurrency, group_rate, group_rate_per_ms FROM jobmill_queue WHERE id = ?`
const COLUMNS = `id, name, weight, concurrency, rate, rate_per_ms, paused, changed_by, changed_at, running, used_until, check_at, used_at`
const FIND = `SELECT ${COLUMNS} FROM jobmill_group WHERE queue_id = ? AND name = ?`
const ADD = `INSERT INTO jobmill_group (queue_id, name, used_at) VALUES (?, ?, ?)`
const USED = `UPDATE jobmill_group SET used_at = ? WHERE id = ?`
const CHECK = `UPDATE jobmill_group SET check_at = ? WHERE id = ? AND (check_at IS NULL OR check_at > ?)`
const PASS = `UPDATE jobmill_group SET running = running + ? WHERE queue_id = ? AND name = ?`
const FORGET_PASS = `UPDATE jobmill_job SET flags = flags & ~${HAS_PASSED} WHERE pk = ?`

/** Keeps a group in use from being forgotten. Written at most once an hour. */
const USED_EVERY_MS = 3_600_000

export interface GroupRow {
  readonly id: number
  readonly name: string
  readonly weight: number | null
  readonly concurrency: number | null
  readonly rate: number | null
  readonly rate_per_ms: number | null
  readonly paused: number
  readonly changed_by: string | null
  readonly changed_at: number | null
  /** Its running jobs, and those that are ready to run, if they had to pass its limits. */
  readonly running: number
  readonly used_until: number
  readonly check_at: number | null
  readonly used_at: number
}

export interface QueueGroupsRow {
  readonly group_fair: number
  readonly group_concurrency: number | null
  readonly group_rate: number | null
  readonly group_rate_per_ms: number | null
}

export function queueGroups({ sql }: Look, queueId: number): QueueGroupsRow | undefined {
  const row = sql(QUEUE).get(queueId) as QueueGroupsRow | undefined
  if (row === undefined) return undefined
  const { group_fair: fair, group_concurrency: concurrency, group_rate: rate } = row
  return fair === 1 || concurrency !== null || rate !== null ? row : undefined
}

export function findGroup({ sql }: Look, queueId: number, name: string): GroupRow | undefined {
  return sql(FIND).get(queueId, name) as GroupRow | undefined
}

export function needGroup(work: Work, queueId: number, name: string): GroupRow {
  const { sql, now } = work
  const found = findGroup(work, queueId, name)
  if (found === undefined) {
    sql(ADD).run(queueId, name, now)
    return findGroup(work, queueId, name) as GroupRow
  }
  if (now - found.used_at >= USED_EVERY_MS) sql(USED).run(now, found.id)
  return found
}

/** How jobs of a group become ready. */
export interface Turn {
  /** They have to pass its limits first. */
  readonly waits: boolean
  /** The first of their places; null in a queue that is not fair. */
  readonly start: number | null
}

const NO_TURN: Turn = { waits: false, start: null }

export function turnOf(work: Work, queueId: number, group: string | null): Turn {
  const queue = group === null ? undefined : queueGroups(work, queueId)
  if (queue === undefined || group === null) return NO_TURN
  const row = needGroup(work, queueId, group)
  const own = [row.concurrency, row.rate, queue.group_concurrency, queue.group_rate]
  return {
    waits: row.paused === 1 || own.some((limit) => limit !== null),
    start: queue.group_fair === 1 ? startOf(row.id) : null,
  }
}

export function startOf(id: number): number {
  return LOWEST + (id % NUMBERS) * PLACES
}

/** The first place of the group of a job at this place. */
export function startAt(place: number): number {
  return Math.floor(place / PLACES) * PLACES
}

/** The place of a job that becomes ready. */
export function placeIn({ start }: Turn, seq: number): number {
  return start === null ? seq : start + (seq % PLACES)
}

/** Stage looks at the group from this time on. */
export function checkGroup({ sql, moves }: Work, queueId: number, id: number, at = 0): void {
  sql(CHECK).run(at, id, at)
  if (at === 0) moves.notify(queueId)
}

const CHECK_ALL = `UPDATE jobmill_group SET check_at = 0 WHERE queue_id = ?`

/** The groups of the queue may have other limits now. */
export function checkGroups({ sql }: Work, queueId: number): void {
  sql(CHECK_ALL).run(queueId)
}

type Member = Pick<JobRow, 'pk' | 'queue_id' | 'group_name' | 'flags'>

/** The job stopped running, or left its place: another job of its group may start. */
export function leaveGroup(work: Work, job: Member): void {
  if ((job.flags & HAS_PASSED) === 0 || job.group_name === null) return
  work.sql(FORGET_PASS).run(job.pk)
  work.sql(PASS).run(-1, job.queue_id, job.group_name)
  const group = findGroup(work, job.queue_id, job.group_name)
  if (group !== undefined) checkGroup(work, job.queue_id, group.id)
}

export function joinGroup({ sql }: Work, queueId: number, name: string, jobs: number): void {
  sql(PASS).run(jobs, queueId, name)
}
