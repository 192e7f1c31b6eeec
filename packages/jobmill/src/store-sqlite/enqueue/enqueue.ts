/**
 * Inserts new jobs. One call is one transaction. Jobs are handled in the order of the call, so that a
 * duplicate key in the call finds the earlier job.
 */
import { FIRST_PLACES, keyExpiresAt, type NewJob } from '../../job/enqueue/new-job.ts'
import type { DirectDispatchOffer } from '../../store/types/claim.ts'
import type { Enqueued } from '../../store/types/replies.ts'
import { findJob, HAS_STEPS, IN_GROUP, IN_ORDER_QUEUE, type JobRow, READY, SCHEDULED } from '../job-row.ts'
import type { Verb, Work } from '../work.ts'
import { debounceWaiting } from './debounce.ts'
import { freeKeyAtStart, type KeyHold, keyHold, takeKey } from './dedupe.ts'
import { enqueueAlike, isPlain } from './enqueue-alike.ts'
import { chooseDispatched, giveLease } from './direct-dispatch.ts'
import { dueTime, type InitialState, initialStateOf, type Placed } from './initial-state.ts'
import { leaveGroup, placeIn, type Turn, turnOf } from '../groups/turns.ts'
import { groupJoined, makeDue, orderQueueChanged, orderQueueJoined } from './order-queue.ts'
import { addTags, replaceEntries, tagsText } from './tags.ts'

// Uses jobmill_job_id: an existing id is the same job, and nothing is written.
const INSERT = `
  INSERT INTO jobmill_job (id, queue_id, kind_id, state, priority, seq, attempt, max_attempts, crashes, in_order_queue,
    records, token, instance_pk, enqueued_at, due_at, ready_at, started_at, timeout_ms, hold_ms, hold_after, order_key,
    group_name, dedupe_key, tags, metadata, payload)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO NOTHING`

/** For at least this many plain jobs, a single statement is faster. */
const FEW = 4

export function enqueue(
  work: Work,
  jobs: readonly NewJob[],
  directDispatch?: DirectDispatchOffer,
): Enqueued[] {
  if (jobs.length === 0) return []
  const dispatched = directDispatch === undefined ? undefined : chooseDispatched(work, jobs, directDispatch)
  // Reserves a sequence number for each job, even for those that turn out to need none: gaps cost nothing.
  const firstPlace = work.counters.take('seq', jobs.length)
  const turns = turnsOf(work)
  const all = jobs.map((job, at): Placed => {
    const holder = dispatched?.chosen.has(at) === true ? dispatched : undefined
    const place = firstPlace + at
    const turn = job.group === null ? NO_TURN : turns(job)
    return { job, place: placeOf(job, turn, place), turn, holder, pk: undefined }
  })
  const plain = all.filter(isPlain)
  const together = plain.length >= FEW
  if (together) enqueueAlike(work, plain)
  return all.map((one) => (together && isPlain(one) ? enqueued(work, one) : enqueueOne(work, one)))
}

const NO_TURN: Turn = { waits: false, start: null }

/** Looks up each group once. */
function turnsOf(work: Work): (job: NewJob) => Turn {
  const known = new Map<string, Turn>()
  return ({ queue, group }) => {
    const key = `${queue}\n${group}`
    const turn = known.get(key) ?? turnOf(work, work.names.needQueue(queue), group)
    known.set(key, turn)
    return turn
  }
}

/** A job that waits gets its place in the turns of its group when it becomes ready. */
function placeOf({ first, orderKey }: NewJob, turn: Turn, seq: number): number {
  if (first === true) return seq - FIRST_PLACES
  return orderKey !== null || turn.waits ? seq : placeIn(turn, seq)
}

function enqueued(work: Work, one: Placed): Enqueued {
  const { job, holder, pk } = one
  if (holder === undefined || pk === undefined) return { id: job.id, outcome: 'enqueued' }
  return { id: job.id, outcome: 'enqueued', lease: giveLease(work, job, holder, pk) }
}

/** An enqueue call as the writer takes it. Calls of one turn are merged, as if they were one call. */
export function enqueueCall(jobs: readonly NewJob[]): Verb<Enqueued[]> {
  return Object.assign((work: Work) => enqueue(work, jobs), { jobs, together: enqueueCalls })
}

function enqueueCalls(work: Work, verbs: readonly Verb[]): Enqueued[][] {
  const calls = verbs.map((verb) => (verb as Verb & { readonly jobs: readonly NewJob[] }).jobs)
  const replies = enqueue(work, calls.flat())
  let from = 0
  return calls.map(({ length }) => replies.slice(from, (from += length)))
}

function enqueueOne(work: Work, one: Placed): Enqueued {
  const { job, place } = one
  if (job.dedupe !== null) {
    if (findJob(work.sql, job.id) !== undefined) return { id: job.id, outcome: 'enqueued' }
    const hold = keyHold(work.sql, job.dedupe.key, work.now)
    const outcome = hold && collide(work, job, hold, place)
    if (hold !== undefined && outcome !== undefined) return { id: hold.job_id, outcome }
    takeKey(work.sql, job.dedupe.key, job.id, keyExpiresAt(job, work.now))
  }
  const pk = insert(work, job, place, initialStateOf(one, work.now))
  if (one.holder !== undefined) one.pk = pk
  return enqueued(work, one)
}

/** What happens to the job that holds the key. Undefined if the new job takes the key from it. */
function collide(
  work: Work,
  job: NewJob,
  { job_id: holder, expires_at: expiresAt }: KeyHold,
  place: number,
): 'replaced' | 'duplicate' | undefined {
  if (job.dedupe?.holdAfter === 'due') return debounceWaiting(work, holder, job) ? 'replaced' : undefined
  const mayReplace = job.dedupe?.onConflict === 'replace' && expiresAt === null
  return mayReplace && replaceWaiting(work, holder, job, place) ? 'replaced' : 'duplicate'
}

/** Returns the primary key; undefined when the id already exists. */
function insert(work: Work, job: NewJob, place: number, initial: InitialState): number | undefined {
  const { sql, now, names, moves } = work
  const queueId = names.needQueue(job.queue)
  const { changes, lastInsertRowid } = sql(INSERT).run(
    job.id,
    queueId,
    names.needKind(job.kind),
    initial.state,
    job.priority,
    initial.hasPlace ? place : 0,
    initial.attempt,
    job.maxAttempts,
    initial.waitsIn,
    initial.token,
    initial.instancePk,
    now,
    initial.dueAt,
    initial.readyAt,
    initial.startedAt,
    job.timeoutMs,
    job.dedupe?.holdMs ?? null,
    job.dedupe?.holdAfter ?? null,
    job.orderKey,
    job.group,
    job.dedupe?.key ?? null,
    tagsText(job.tags),
    job.metadata,
    job.payload,
  )
  if (changes === 0) return undefined
  if (job.dedupe?.holdAfter === 'started') freeKeyAtStart(sql, Number(lastInsertRowid))
  addTags(sql, job.id, job.tags)
  moves.move(queueId, null, initial.state)
  if (initial.waitsIn === IN_GROUP) groupJoined(work, queueId, job.group)
  if (initial.waitsIn === IN_ORDER_QUEUE && job.orderKey !== null) {
    if (job.first === true) orderQueueChanged(work, queueId, job.orderKey)
    else orderQueueJoined(work, queueId, job.orderKey, place)
  }
  return Number(lastInsertRowid)
}

// Uses the primary key, after findJob under the same write lock.
const PAYLOAD = `UPDATE jobmill_job SET payload = ?, due_at = ?, enqueued_at = ? WHERE pk = ?`
const LATER = `UPDATE jobmill_job SET state = 0, in_order_queue = 0 WHERE pk = ?`

/**
 * `place` is the sequence number of the new job. False when the holder is running, has steps, has ended, is
 * gone, or has another kind: the payload must not reach the handler of another kind.
 */
function replaceWaiting(work: Work, holderId: string, job: NewJob, place: number): boolean {
  const holder = findJob(work.sql, holderId)
  if (holder === undefined || (holder.state !== SCHEDULED && holder.state !== READY)) return false
  if (work.names.kindName(holder.kind_id) !== job.kind) return false
  // Its steps belong to its payload.
  if ((holder.flags & HAS_STEPS) !== 0) return false
  const dueAt = dueTime(job, work.now)
  work.sql(PAYLOAD).run(job.payload, dueAt, work.now, holder.pk)
  replaceEntries(work.sql, holder, job.tags)
  if (dueAt <= work.now) bringForward(work, holder, dueAt, place)
  else putOff(work, holder)
  return true
}

/** Due now. A job that is ready or in its order queue keeps its place. */
function bringForward(work: Work, holder: JobRow, dueAt: number, place: number): void {
  if (holder.state === READY || holder.in_order_queue !== 0) return
  makeDue(work, holder, dueAt, place)
}

/** Due later. The job leaves its order queue and its group, but keeps an order lock that it holds. */
function putOff(work: Work, holder: JobRow): void {
  work.sql(LATER).run(holder.pk)
  work.moves.move(holder.queue_id, holder.state, SCHEDULED)
  leaveGroup(work, holder)
  if (holder.order_key !== null && holder.in_order_queue === IN_ORDER_QUEUE)
    orderQueueChanged(work, holder.queue_id, holder.order_key)
}
