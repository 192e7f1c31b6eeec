/**
 * Many plain jobs in one statement. Jobs of one call are mostly alike, so what they share is bound once, and only id,
 * place and payload travel per job: half the time of a statement per job.
 */
import type { NewJob } from '../job/new-job.ts'
import { dueTime } from './due-time.ts'
import { READY, SCHEDULED } from './job-row.ts'
import type { Work } from './work.ts'

// By jobmill_job_id: an id that exists is the same job, and nothing is written.
const INSERT = `
  INSERT INTO jobmill_job (id, queue_id, kind_id, state, priority, seq, attempt, max_attempts, crashes, in_line,
    records, token, enqueued_at, due_at, ready_at, timeout_ms, hold_ms, payload)
  SELECT one.value ->> 0, ?, ?, ?, ?, one.value ->> 1, 0, ?, 0, 0, 0, 0, ?, ?, ?, ?, 0, one.value ->> 2
  FROM json_each(?) AS one WHERE true
  ON CONFLICT (id) DO NOTHING`

/** Larger ones gain nothing, and would make the one text too long. */
const LONGEST_PAYLOAD = 4_096

export interface Placed {
  readonly job: NewJob
  readonly place: number
}

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

export function enqueueAlike(work: Work, jobs: readonly Placed[]): void {
  const groups = Map.groupBy(jobs, ({ job }) =>
    [job.queue, job.kind, job.priority, job.maxAttempts, job.timeoutMs, job.dueAt, job.delayMs].join(' '),
  )
  for (const group of groups.values()) insertGroup(work, group)
}

function insertGroup({ sql, now, names, moves }: Work, group: readonly Placed[]): void {
  const first = group[0]?.job
  if (first === undefined) return
  const queueId = names.needQueue(first.queue)
  const dueAt = dueTime(first, now)
  const ready = dueAt <= now
  const state = ready ? READY : SCHEDULED
  const { changes } = sql(INSERT).run(
    queueId,
    names.needKind(first.kind),
    state,
    first.priority,
    first.maxAttempts,
    now,
    dueAt,
    ready ? now : null,
    first.timeoutMs,
    JSON.stringify(group.map(({ job, place }) => [job.id, ready ? place : 0, job.payload])),
  )
  if (changes !== 0) moves.move(queueId, null, state, Number(changes))
}
