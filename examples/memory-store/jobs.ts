// The verbs for jobs that write. Each is one synchronous function, so each is one transaction.
import {
  type ClaimRequest,
  type CoolDown,
  DEFAULTS,
  type Enqueued,
  type Finish,
  type Finished,
  type JobState,
  type Lease,
  type NewJob,
  type NewPayload,
  type Progress,
  type Staged,
  type Transition,
  type Verdict,
  withEntriesOf,
} from 'jobmill/store'
import { byId, type Database, ensureQueue, isClaiming, type Job, type Run } from './database.ts'
import {
  becomeDue,
  end,
  freeKey,
  freeLock,
  heads,
  lockOf,
  makeReady,
  putBack,
  record,
  refund,
  schedule,
} from './moves.ts'

export function enqueue(db: Database, now: number, jobs: readonly NewJob[]): Enqueued[] {
  return jobs.map((item) => {
    const { dueAt: named, delayMs, first = false, ...job } = item
    const { id, dedupe } = job
    const dueAt = named ?? now + delayMs
    if (db.jobs.has(id)) return { id, outcome: 'enqueued' }
    const holder = dedupe && holderOf(db, now, dedupe.key)
    if (holder !== null) return collide(db, now, item, dueAt, holder)
    if (dedupe !== null) db.holds.set(dedupe.key, { holder: id, until: null })
    ensureQueue(db, job.queue)
    const fresh = { place: null, seq: 0, readyAt: 0, attempt: 0, crashes: 0 }
    const never = { run: null, result: null, endedAt: null, attempts: [] }
    const written: Job = { ...job, ...fresh, ...never, state: 'scheduled', enqueuedAt: now, dueAt }
    db.jobs.set(id, written)
    if (dueAt <= now) becomeDue(db, now, written, first)
    return { id, outcome: 'enqueued' }
  })
}

/** The id of the job that holds a dedupe key. Null if the key is free or its hold is over. */
export function holderOf(db: Database, now: number, key: string): string | null {
  const hold = db.holds.get(key)
  return hold === undefined || (hold.until !== null && hold.until <= now) ? null : hold.holder
}

function collide(db: Database, now: number, item: NewJob, dueAt: number, id: string): Enqueued {
  const holder = db.jobs.get(id)
  const waits = holder?.state === 'scheduled' || holder?.state === 'ready'
  if (!waits || item.dedupe?.onConflict !== 'replace' || holder.kind !== item.kind)
    return { id, outcome: 'duplicate' }
  const tags = withEntriesOf(holder.tags, item.tags)
  Object.assign(holder, { payload: item.payload, tags, enqueuedAt: now })
  if (dueAt > now) schedule(holder, dueAt)
  else if (holder.state === 'scheduled') {
    holder.dueAt = dueAt
    if (holder.place === null) becomeDue(db, now, holder)
  }
  return { id, outcome: 'replaced' }
}

export function stage(db: Database, now: number, limit: number): Staged {
  const due = [...db.jobs.values()]
    .filter((job) => job.state === 'scheduled' && job.place === null && job.dueAt <= now)
    .toSorted((a, b) => a.dueAt - b.dueAt || byId(a, b))
    .slice(0, limit)
  for (const job of due) becomeDue(db, now, job)
  const next = heads(db).slice(0, limit)
  for (const job of next) {
    db.locks.set(lockOf(job), job.id)
    makeReady(db, now, job)
  }
  const ready = new Set([...due, ...next].filter(({ state }) => state === 'ready'))
  return {
    ready: ready.size,
    more: due.length === limit || next.length === limit,
    queues: [...new Set([...ready].map(({ queue }) => queue))].toSorted(),
  }
}

export function claim(db: Database, now: number, request: ClaimRequest): Lease[] {
  const jobs = isClaiming(db, now, request.instance) ? claimable(db, now, request) : []
  if (jobs.length > 0) db.lastToken += 1
  const token = db.lastToken
  return jobs.map((job) => {
    const run = { token, instance: request.instance, startedAt: now }
    job.state = 'running'
    job.attempt += 1
    job.run = { ...run, cancelReason: null, progress: null, log: null }
    const { id, kind, queue, priority, attempt, maxAttempts, crashes, payload } = job
    const { timeoutMs, tags, metadata, orderKey, enqueuedAt, readyAt } = job
    const lease = { id, token, kind, queue, priority, attempt, maxAttempts, crashes, payload }
    const rest = { timeoutMs, tags, metadata, orderKey, enqueuedAt, readyAt }
    return { ...lease, ...rest, waitedMs: now - readyAt }
  })
}

/** The jobs that a claim would lease, in the order of the reply. */
export function claimable(db: Database, now: number, request: Omit<ClaimRequest, 'instance'>): Job[] {
  const { kinds, quarantined } = request
  const limit = quarantined === 'only' ? 1 : request.limit
  const rooms = new Map(request.queues.map(({ queue, room }) => [queue, room]))
  const chosen: Job[] = []
  for (const job of inClaimOrder(db)) {
    const queue = db.queues.get(job.queue)
    const isOpen = queue !== undefined && !queue.settings.paused && queue.coolUntil <= now
    const isQuarantined = job.crashes >= DEFAULTS.crashesUntilAlone
    const room = rooms.get(job.queue) ?? 0
    if (!isOpen || !kinds.includes(job.kind) || isQuarantined !== (quarantined === 'only')) continue
    if (room === 0 || chosen.length === limit) continue
    rooms.set(job.queue, room - 1)
    chosen.push(job)
  }
  return chosen
}

export function inClaimOrder(db: Database): Job[] {
  const ready = [...db.jobs.values()].filter(({ state }) => state === 'ready')
  return ready.toSorted((a, b) => a.priority - b.priority || a.seq - b.seq)
}

export function finish(db: Database, now: number, items: readonly Finish[]): Finished[] {
  const curved = new Set<string>()
  return items.map((item) => {
    const { id, token, transition } = item
    const job = db.jobs.get(id)
    // The fence: only the attempt that holds the lease may write.
    if (job?.run?.token === token) return finishOne(db, now, item, job, job.run, curved)
    if (job === undefined && transition.to === 'done' && transition.forget === true)
      return { id, accepted: true, state: 'done', followUps: [] }
    const before = job?.attempts.find((attempt) => attempt.token === token)?.wentTo ?? null
    if (before === null) return { id, accepted: false, state: null, followUps: [] }
    return { id, accepted: true, state: before, followUps: [], again: true }
  })
}

function finishOne(
  db: Database,
  now: number,
  item: Finish,
  job: Job,
  run: Run,
  curved: Set<string>,
): Finished {
  const { id } = job
  const { transition, ranMs, log, cool, followUps = [] } = item
  const isForced = transition.to !== 'done' && run.cancelReason !== null
  const wentTo = isForced ? 'cancelled' : stateAfter(transition)
  const outcome = isForced ? 'cancelled' : item.outcome
  const error = isForced ? run.cancelReason : (item.error ?? null)
  if (outcome !== null) record(now, job, run, { outcome, error, wentTo, ranMs, log })
  if (transition.to === 'ready' || ('refund' in transition && transition.refund)) refund(job)
  if (isForced) end(db, now, job, 'cancelled')
  else move(db, now, job, transition)
  if (transition.to === 'done' && transition.forget === true) db.jobs.delete(id)
  if (cool !== undefined) coolDown(db, now, job.queue, cool, curved)
  const isAsAsked = wentTo === stateAfter(transition)
  return { id, accepted: true, state: wentTo, followUps: isAsAsked ? enqueue(db, now, followUps) : [] }
}

function stateAfter(transition: Transition): JobState {
  // Without the part `steps`, no attempt is parked.
  if (transition.to === 'parked') return 'ready'
  return transition.to === 'scheduled' && transition.delayMs === 0 ? 'ready' : transition.to
}

function move(db: Database, now: number, job: Job, transition: Transition): void {
  if (transition.to === 'ready' || transition.to === 'parked') return putBack(job)
  if (transition.to === 'scheduled') {
    if (transition.delayMs === 0) makeReady(db, now, job)
    else schedule(job, now + transition.delayMs)
    return
  }
  if (transition.to === 'done') job.result = transition.result
  end(db, now, job, transition.to)
}

function coolDown(db: Database, now: number, name: string, how: CoolDown, curved: Set<string>): void {
  const queue = ensureQueue(db, name)
  if ('forMs' in how) {
    queue.coolUntil = Math.max(queue.coolUntil, now + how.forMs)
    return
  }
  const isCounted = !curved.has(name) && queue.coolUntil <= now
  curved.add(name)
  if (!isCounted) return
  if (now - queue.coolUntil >= how.quietMs) queue.throttles = 0
  queue.coolUntil = now + Math.min(how.maxMs, how.baseMs * 2 ** queue.throttles)
  queue.throttles += 1
}

export function progress(db: Database, items: readonly Progress[]): boolean[] {
  return items.map(({ id, token, value, log }) => {
    const run = db.jobs.get(id)?.run
    if (run?.token !== token) return false
    run.progress = value ?? run.progress
    run.log = log ?? run.log
    return true
  })
}

type Did = Omit<Verdict, 'id'>

/** Applies an action of an operator. The table in the comment of `Verdict` lists what each may do. */
function each(db: Database, ids: readonly string[], act: (job: Job, at: number) => Did): Verdict[] {
  return ids.map((id, at) => {
    const job = db.jobs.get(id)
    return { id, ...(job === undefined ? { verdict: 'unknown', state: null } : act(job, at)) }
  })
}

const did = (verdict: Did['verdict'], state: JobState | null): Did => ({ verdict, state })

export function cancel(db: Database, now: number, ids: readonly string[], reason: string): Verdict[] {
  return each(db, ids, (job) => {
    if (job.state === 'cancelled') return did('unchanged', job.state)
    if (job.state === 'done' || job.state === 'dead') return did('refused', job.state)
    if (job.run !== null) {
      if (job.run.cancelReason !== null) return did('unchanged', 'running')
      job.run.cancelReason = reason
      return did('changed', 'running')
    }
    record(now, job, null, { outcome: 'cancelled', error: reason, wentTo: null })
    end(db, now, job, 'cancelled')
    return did('changed', 'cancelled')
  })
}

export function retry(
  db: Database,
  now: number,
  ids: readonly string[],
  payloads: readonly NewPayload[] = [],
): Verdict[] {
  return each(db, ids, (job, at) => {
    if (job.state !== 'dead' && job.state !== 'cancelled') return did('refused', job.state)
    const { payload = job.payload, entries = null, endedAt = job.endedAt } = payloads[at] ?? {}
    if (endedAt !== job.endedAt) return did('refused', job.state)
    if (job.dedupe !== null) {
      const holder = holderOf(db, now, job.dedupe.key) ?? job.id
      if (holder !== job.id) return { ...did('refused', job.state), holder }
      db.holds.set(job.dedupe.key, { holder, until: null })
    }
    const tags = entries === null ? job.tags : withEntriesOf(job.tags, entries)
    Object.assign(job, { payload, tags, attempt: 0, crashes: 0, endedAt: null })
    schedule(job, now)
    becomeDue(db, now, job)
    return did('changed', job.state)
  })
}

export function runNow(db: Database, now: number, ids: readonly string[]): Verdict[] {
  return each(db, ids, (job) => {
    if (job.state === 'ready' || job.place !== null) return did('unchanged', job.state)
    if (job.state !== 'scheduled') return did('refused', job.state)
    job.dueAt = now
    becomeDue(db, now, job)
    return did('changed', job.state)
  })
}

export function remove(db: Database, ids: readonly string[]): Verdict[] {
  return each(db, ids, (job) => {
    if (job.state === 'running') return did('refused', job.state)
    freeLock(db, job)
    // The hold of an ended job outlives its deletion.
    if (job.endedAt === null) freeKey(db, job)
    db.jobs.delete(job.id)
    return did('changed', null)
  })
}
