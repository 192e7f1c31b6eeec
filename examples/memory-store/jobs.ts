// The verbs for jobs. Each is one synchronous function, so each is one transaction.
import {
  cancelRow,
  type ClaimRequest,
  coolDown,
  debouncedUntil,
  DEFAULTS,
  endingOf,
  type Enqueued,
  type Finish,
  type Finished,
  instanceState,
  isClaiming,
  isHeldUntilEnd,
  keyExpiresAt,
  type Lease,
  type NewJob,
  type NewPayload,
  newJobRow,
  NOTHING_RETAINED,
  recordAttempt,
  refund,
  type Retained,
  type RetainRequest,
  type RunRow,
  type Staged,
  staleReply,
  startRun,
  stateAfter,
  surplusRows,
  type Transition,
  type Verdict,
  withEntriesOf,
} from 'jobmill/store'
import { byId, type Database, ensureQueue, type Hold, type Job, runsOf } from './database.ts'
import { becomeDue, end, freeKey, freeLock, heads, lockOf, makeReady, putBack, schedule } from './moves.ts'

export function enqueue(db: Database, jobs: readonly NewJob[]): Enqueued[] {
  return jobs.map((item) => {
    const { id, dedupe, first } = item
    if (db.jobs.has(id)) return { id, outcome: 'enqueued' }
    const hold = dedupe && holdOf(db, dedupe.key)
    if (hold !== null && dedupe?.holdAfter !== 'due') return collide(db, item, hold)
    if (hold !== null && debounced(db, item, hold)) return { id: hold.holder, outcome: 'replaced' }
    if (dedupe !== null) db.holds.set(dedupe.key, { holder: id, until: keyExpiresAt(item, db.now) })
    ensureQueue(db, item.queue)
    const job: Job = { ...newJobRow(item, db.now), place: null }
    db.jobs.set(id, job)
    if (job.dueAt <= db.now) becomeDue(db, job, first)
    return { id, outcome: 'enqueued' }
  })
}

/** The job that holds a dedupe key. Null if the key is free or its hold is over. */
function holdOf(db: Database, key: string): Hold | null {
  const hold = db.holds.get(key)
  return hold === undefined || (hold.until !== null && hold.until <= db.now) ? null : hold
}

function collide(db: Database, item: NewJob, { holder: id, until }: Hold): Enqueued {
  const holder = db.jobs.get(id)
  const waits = holder?.state === 'scheduled' || holder?.state === 'ready'
  if (!waits || until !== null || item.dedupe?.onConflict !== 'replace' || holder.kind !== item.kind)
    return { id, outcome: 'duplicate' }
  const { payload, enqueuedAt, dueAt } = newJobRow(item, db.now)
  Object.assign(holder, { payload, enqueuedAt, tags: withEntriesOf(holder.tags, item.tags) })
  if (dueAt > db.now) schedule(holder, dueAt)
  else if (holder.state === 'scheduled') {
    holder.dueAt = dueAt
    if (holder.place === null) becomeDue(db, holder)
  }
  return { id, outcome: 'replaced' }
}

/** Changes the job that waits. False if it has started or is due: then the new job takes its key. */
function debounced(db: Database, item: NewJob, { holder: id }: Hold): boolean {
  const holder = db.jobs.get(id)
  if (holder?.state !== 'scheduled' || holder.dueAt <= db.now || holder.attempts.length > 0) return false
  const { payload, metadata, tags, dedupe } = item
  const dueAt = debouncedUntil(item, holder.enqueuedAt, db.now)
  Object.assign(holder, { payload, metadata, tags, dueAt })
  if (dedupe !== null) db.holds.set(dedupe.key, { holder: id, until: dueAt })
  return true
}

export function stage(db: Database, limit: number): Staged {
  const due = [...db.jobs.values()]
    .filter((job) => job.state === 'scheduled' && job.place === null && job.dueAt <= db.now)
    .toSorted((a, b) => a.dueAt - b.dueAt || byId(a, b))
    .slice(0, limit)
  for (const job of due) becomeDue(db, job)
  const next = heads(db).slice(0, limit)
  for (const job of next) {
    db.locks.set(lockOf(job), job.id)
    makeReady(db, job)
  }
  const ready = new Set([...due, ...next].filter(({ state }) => state === 'ready'))
  const queues = new Set([...ready].map(({ queue }) => queue))
  const more = due.length === limit || next.length === limit
  return { ready: ready.size, more, queues: [...queues].toSorted() }
}

export function claim(db: Database, request: ClaimRequest): Lease[] {
  const instance = db.instances.get(request.instance)
  if (instance === undefined) return []
  const { requested } = instance
  if (!isClaiming({ state: instanceState(instance, db.now), requested })) return []
  const jobs = claimable(db, request)
  if (jobs.length > 0) db.lastToken += 1
  for (const job of jobs) if (job.dedupe?.holdAfter === 'started') freeKey(db, job)
  return jobs.map((job) => startRun(job, db.lastToken, request.instance, db.now))
}

/** The jobs that a claim would lease, in the order of the reply. */
export function claimable(db: Database, request: Omit<ClaimRequest, 'instance'>): Job[] {
  const { kinds, quarantined } = request
  const limit = quarantined === 'only' ? 1 : request.limit
  const rooms = new Map(request.queues.map(({ queue, room }) => [queue, room]))
  const isWanted = ({ state, queue: name, kind, crashes }: Job): boolean => {
    const queue = db.queues.get(name)
    const isOpen = queue !== undefined && !queue.settings.paused && queue.coolUntil <= db.now
    const isQuarantined = crashes >= DEFAULTS.crashesUntilAlone
    return state === 'ready' && isOpen && kinds.includes(kind) && isQuarantined === (quarantined === 'only')
  }
  return [...db.jobs.values()]
    .filter(isWanted)
    .toSorted((a, b) => a.priority - b.priority || a.seq - b.seq)
    .filter(({ queue }) => {
      const room = rooms.get(queue) ?? 0
      rooms.set(queue, room - 1)
      return room > 0
    })
    .slice(0, limit)
}

export function finish(db: Database, items: readonly Finish[]): Finished[] {
  const curved = new Set<object>()
  return items.map((item) => {
    const job = db.jobs.get(item.id)
    // The fence: only the attempt that holds the lease may write.
    if (job?.run?.token === item.token) return finishOne(db, item, job, job.run, curved)
    return staleReply(item, job)
  })
}

function finishOne(db: Database, item: Finish, job: Job, run: RunRow, curved: Set<object>): Finished {
  const { id, transition, cool, followUps = [] } = item
  const ending = endingOf(item, run)
  recordAttempt(job, run, ending, db.now)
  if (transition.to === 'ready' || ('refund' in transition && transition.refund)) refund(job)
  const isAsAsked = ending.wentTo === stateAfter(transition)
  if (isAsAsked) move(db, job, transition)
  else end(db, job, 'cancelled')
  if (transition.to === 'done' && transition.forget === true) db.jobs.delete(id)
  if (cool !== undefined) coolDown(ensureQueue(db, job.queue), cool, curved, db.now)
  return { id, accepted: true, state: ending.wentTo, followUps: isAsAsked ? enqueue(db, followUps) : [] }
}

function move(db: Database, job: Job, transition: Transition): void {
  if (transition.to === 'ready' || transition.to === 'parked') return putBack(job)
  if (transition.to === 'scheduled') {
    if (transition.delayMs === 0) return makeReady(db, job)
    return schedule(job, db.now + transition.delayMs)
  }
  if (transition.to === 'done') job.result = transition.result
  end(db, job, transition.to)
}

type Did = Omit<Verdict, 'id'>

/** Applies an action of an operator. The table in the comment of `Verdict` lists what each may do. */
function each(db: Database, ids: readonly string[], act: (job: Job, at: number) => Did): Verdict[] {
  return ids.map((id, at) => {
    const job = db.jobs.get(id)
    return { id, ...(job === undefined ? { verdict: 'unknown', state: null } : act(job, at)) }
  })
}

export function cancel(db: Database, ids: readonly string[], reason: string): Verdict[] {
  return each(db, ids, (job) => {
    const did = cancelRow(job, reason, db.now)
    if (did.verdict === 'changed' && did.state === 'cancelled') end(db, job, 'cancelled')
    return did
  })
}

export function retry(db: Database, ids: readonly string[], payloads: readonly NewPayload[] = []): Verdict[] {
  return each(db, ids, (job, at) => {
    const { payload = job.payload, entries = null, endedAt = job.endedAt } = payloads[at] ?? {}
    const refused: Did = { verdict: 'refused', state: job.state }
    if ((job.state !== 'dead' && job.state !== 'cancelled') || endedAt !== job.endedAt) return refused
    if (job.dedupe !== null && isHeldUntilEnd(job.dedupe.holdAfter)) {
      const holder = holdOf(db, job.dedupe.key)?.holder ?? job.id
      if (holder !== job.id) return { ...refused, holder }
      db.holds.set(job.dedupe.key, { holder, until: null })
    }
    const tags = entries === null ? job.tags : withEntriesOf(job.tags, entries)
    Object.assign(job, { payload, tags, attempt: 0, crashes: 0, endedAt: null })
    schedule(job, db.now)
    becomeDue(db, job)
    return { verdict: 'changed', state: job.state }
  })
}

export function runNow(db: Database, ids: readonly string[]): Verdict[] {
  return each(db, ids, (job) => {
    if (job.state === 'ready' || job.place !== null) return { verdict: 'unchanged', state: job.state }
    if (job.state !== 'scheduled') return { verdict: 'refused', state: job.state }
    job.dueAt = db.now
    becomeDue(db, job)
    return { verdict: 'changed', state: job.state }
  })
}

export function remove(db: Database, ids: readonly string[]): Verdict[] {
  return each(db, ids, (job) => {
    if (job.state === 'running') return { verdict: 'refused', state: job.state }
    freeLock(db, job)
    // The hold of an ended job outlives its deletion.
    if (job.endedAt === null) freeKey(db, job)
    db.jobs.delete(job.id)
    return { verdict: 'changed', state: null }
  })
}

export function retain(db: Database, { limit, queues }: RetainRequest): Retained {
  const old = surplusRows(db.jobs.values(), (queue) => db.queues.get(queue)?.settings, db.now)
    .filter(({ queue }) => queues?.includes(queue) ?? true)
    .slice(0, limit)
  const count = (as: Job['state']): number => old.filter(({ state }) => state === as).length
  const jobs = { jobs: old.length, done: count('done'), dead: count('dead'), cancelled: count('cancelled') }
  const keys = [...db.holds].filter(([, { until }]) => until !== null && until <= db.now)
  const gone = [...db.instances.values()].filter(({ id, endedAt }) => {
    const isOld = endedAt !== null && db.now - endedAt >= DEFAULTS.keepEndedInstanceMs
    return isOld && runsOf(db, id).length === 0
  })
  for (const { id } of old) db.jobs.delete(id)
  for (const [key] of keys) db.holds.delete(key)
  for (const { id } of gone) db.instances.delete(id)
  const others = { keys: keys.length, instances: gone.length, more: old.length === limit }
  return { ...NOTHING_RETAINED, ...jobs, ...others }
}
