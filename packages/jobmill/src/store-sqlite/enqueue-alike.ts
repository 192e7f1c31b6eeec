/**
 * Many plain jobs in one statement. Jobs of one call are mostly alike, so what they share is bound once, and only id,
 * place and payload travel per job, in one text each: less than half the time of a statement per job.
 */
import type { NewJob } from '../job/new-job.ts'
import { type Born, birthOf, type Placed } from './birth.ts'
import { findJob, RUNNING } from './job-row.ts'
import type { Work } from './work.ts'

// By jobmill_job_id: an id that exists is the same job, and nothing is written. An id has 36 characters; the place is
// told as its distance from the first one, in nine digits more. (Taking a JSON array per job apart costs half as much again.)
const INSERT = `
  INSERT OR FAIL INTO jobmill_job (id, queue_id, kind_id, state, priority, seq, attempt, max_attempts, crashes, in_line,
    records, token, instance_pk, enqueued_at, due_at, ready_at, started_at, timeout_ms, hold_ms, payload)
  SELECT substr(one.value, 1, 36), ?, ?, ?, ?, ? + substr(one.value, 37, 9), ?, ?, 0, 0, 0, ?, ?, ?, ?, ?, ?, ?, 0,
    substr(one.value, 46)
  FROM json_each(?) AS one WHERE true
  ON CONFLICT (id) DO NOTHING`

const DIGITS = 9

/** Larger ones are cheaper by themselves: what is in JSON has to be escaped, and read again. */
const LONGEST_PAYLOAD = 1_024

/** Nothing about it has to be looked up or written elsewhere. */
export function isPlain(job: NewJob): boolean {
  return (
    job.dedupe === null &&
    job.orderKey === null &&
    job.metadata === null &&
    job.tags.length === 0 &&
    job.payload.length <= LONGEST_PAYLOAD
  )
}

export function enqueueAlike(work: Work, jobs: readonly Placed[], born: Born): void {
  for (const group of groupsOf(jobs)) insertGroup(work, group, born)
}

function groupsOf(jobs: readonly Placed[]): Iterable<readonly Placed[]> {
  const [first] = jobs
  if (first !== undefined && jobs.every((one) => isAlike(one, first))) return [jobs]
  return Map.groupBy(jobs, ({ job, holder }) =>
    [
      job.queue,
      job.kind,
      job.priority,
      job.maxAttempts,
      job.timeoutMs,
      job.dueAt,
      job.delayMs,
      holder !== undefined,
    ].join(' '),
  ).values()
}

function isAlike(a: Placed, b: Placed): boolean {
  return (
    a.holder === b.holder &&
    a.job.queue === b.job.queue &&
    a.job.kind === b.job.kind &&
    a.job.priority === b.job.priority &&
    a.job.maxAttempts === b.job.maxAttempts &&
    a.job.timeoutMs === b.job.timeoutMs &&
    a.job.dueAt === b.job.dueAt &&
    a.job.delayMs === b.job.delayMs
  )
}

function insertGroup(work: Work, group: readonly Placed[], born: Born): void {
  const { sql, now, names, moves } = work
  const [first] = group
  if (first === undefined) return
  const { job, holder } = first
  const queueId = names.needQueue(job.queue)
  const birth = birthOf(job, now, holder)
  const texts = group.map(
    (one) => one.job.id + digits(birth.hasPlace ? one.place - first.place : 0) + one.job.payload,
  )
  const { changes, lastInsertRowid } = sql(INSERT).run(
    queueId,
    names.needKind(job.kind),
    birth.state,
    job.priority,
    birth.hasPlace ? first.place : 0,
    birth.attempt,
    job.maxAttempts,
    birth.token,
    birth.instancePk,
    now,
    birth.dueAt,
    birth.readyAt,
    birth.startedAt,
    job.timeoutMs,
    JSON.stringify(texts),
  )
  if (changes !== 0) moves.move(queueId, null, birth.state, Number(changes))
  if (holder === undefined) return
  // Rows of one statement are numbered one after the other.
  const before = Number(lastInsertRowid) - group.length
  if (Number(changes) === group.length)
    for (const [at, one] of group.entries()) born.set(one, before + 1 + at)
  else for (const one of group) findBorn(work, one, born)
}

/** Some of the ids were there before, or stand twice in the call. */
function findBorn({ sql }: Work, one: Placed, born: Born): void {
  const row = findJob(sql, one.job.id)
  if (row?.state !== RUNNING || row.token !== one.holder?.token) return
  if (![...born.values()].includes(row.pk)) born.set(one, row.pk)
}

function digits(distance: number): string {
  return String(distance).padStart(DIGITS, '0')
}
