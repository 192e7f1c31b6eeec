/**
 * New jobs. One call is one transaction; inside it every job is looked at in the order of the call, so that a key
 * that stands twice meets the job before it.
 */
import type { NewJob } from '../job/new-job.ts'
import type { Enqueued } from '../store/replies.ts'
import { keyHolder, takeKey } from './dedupe.ts'
import { dueTime } from './due-time.ts'
import { enqueueAlike, isPlain } from './enqueue-alike.ts'
import { findJob, READY, SCHEDULED } from './job-row.ts'
import { lineJoined } from './lines.ts'
import { replaceWaiting } from './replace.ts'
import type { Work } from './work.ts'

// By jobmill_job_id: an id that exists is the same job, and nothing is written.
const INSERT = `
  INSERT INTO jobmill_job (id, queue_id, kind_id, state, priority, seq, attempt, max_attempts, crashes, in_line,
    records, token, enqueued_at, due_at, ready_at, timeout_ms, hold_ms, order_key, dedupe_key, tags, metadata, payload)
  VALUES (?, ?, ?, ?, ?, ?, 0, ?, 0, ?, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO NOTHING`
const TAG = `INSERT OR IGNORE INTO jobmill_tag (tag, id) VALUES (?, ?)`

/** From this many plain jobs on, one statement for all is worth its preparation. */
const FEW = 4

export function enqueue(work: Work, jobs: readonly NewJob[]): Enqueued[] {
  if (jobs.length === 0) return []
  // A place for each, also for those that turn out to need none: gaps cost nothing.
  const firstPlace = work.counters.take('seq', jobs.length)
  const plain = jobs.flatMap((job, at) => (isPlain(job) ? [{ job, place: firstPlace + at }] : []))
  const together = plain.length >= FEW
  if (together) enqueueAlike(work, plain)
  return jobs.map((job, at) => {
    if (together && isPlain(job)) return { id: job.id, outcome: 'enqueued' }
    return enqueueOne(work, job, firstPlace + at)
  })
}

function enqueueOne(work: Work, job: NewJob, place: number): Enqueued {
  if (job.dedupe !== null) {
    if (findJob(work.sql, job.id) !== undefined) return { id: job.id, outcome: 'enqueued' }
    const holder = keyHolder(work.sql, job.dedupe.key, work.now)
    if (holder !== undefined) {
      const replaced = job.dedupe.onConflict === 'replace' && replaceWaiting(work, holder, job, place)
      return { id: holder, outcome: replaced ? 'replaced' : 'duplicate' }
    }
    takeKey(work.sql, job.dedupe.key, job.id)
  }
  insert(work, job, place)
  return { id: job.id, outcome: 'enqueued' }
}

function insert(work: Work, job: NewJob, place: number): void {
  const { sql, now, names, moves } = work
  const queueId = names.needQueue(job.queue)
  const dueAt = dueTime(job, now)
  const due = dueAt <= now
  const ready = due && job.orderKey === null
  const inLine = due && job.orderKey !== null
  const { changes } = sql(INSERT).run(
    job.id,
    queueId,
    names.needKind(job.kind),
    ready ? READY : SCHEDULED,
    job.priority,
    due ? place : 0,
    job.maxAttempts,
    inLine ? 1 : 0,
    now,
    dueAt,
    ready ? now : null,
    job.timeoutMs,
    job.dedupe?.holdMs ?? 0,
    job.orderKey,
    job.dedupe?.key ?? null,
    job.tags.length === 0 ? null : JSON.stringify(job.tags),
    job.metadata,
    job.payload,
  )
  if (changes === 0) return
  for (const tag of job.tags) sql(TAG).run(tag, job.id)
  moves.move(queueId, null, ready ? READY : SCHEDULED)
  if (inLine) lineJoined(work, queueId, job.orderKey, place)
}
