// How a job moves from one state to the next. The verbs are made of these steps.
import { type EndedState, FIRST_PLACES, isHeldForTime } from 'jobmill/store'
import type { Database, Job } from './database.ts'

/** A job is due: it becomes ready, or joins its order queue until it gets the order lock. */
export function becomeDue(db: Database, job: Job, first = false): void {
  if (job.orderKey === null || hasLock(db, job)) return makeReady(db, job)
  db.lastSeq += 1
  job.place = db.lastSeq - (first ? FIRST_PLACES : 0)
}

/** Makes a job ready, behind the other jobs of its priority. */
export function makeReady(db: Database, job: Job): void {
  db.lastSeq += 1
  Object.assign(job, { state: 'ready', seq: db.lastSeq, readyAt: db.now, place: null, run: null })
}

/** Makes a job ready again, at the position that it had before it was claimed. */
export function putBack(job: Job): void {
  Object.assign(job, { state: 'ready', run: null })
}

export function schedule(job: Job, dueAt: number): void {
  Object.assign(job, { state: 'scheduled', dueAt, place: null, run: null })
}

export function end(db: Database, job: Job, to: EndedState): void {
  Object.assign(job, { state: to, endedAt: db.now, place: null, run: null })
  freeLock(db, job)
  const { dedupe } = job
  if (dedupe === null || isHeldForTime(dedupe.holdAfter)) return
  const isHeld = dedupe.holdMs > 0 && (to === 'done' || dedupe.holdAfter === 'ended')
  if (isHeld && db.holds.get(dedupe.key)?.holder === job.id)
    db.holds.set(dedupe.key, { holder: job.id, until: db.now + dedupe.holdMs })
  else freeKey(db, job)
}

/** Names of queues contain no space, so the separator is unambiguous. */
export const lockOf = ({ queue, orderKey }: Job): string => `${queue} ${orderKey}`

const hasLock = (db: Database, job: Job): boolean => db.locks.get(lockOf(job)) === job.id

export function freeLock(db: Database, job: Job): void {
  if (hasLock(db, job)) db.locks.delete(lockOf(job))
}

export function freeKey(db: Database, { id, dedupe }: Job): void {
  if (dedupe !== null && db.holds.get(dedupe.key)?.holder === id) db.holds.delete(dedupe.key)
}

/** The first job of every order queue whose lock is free, by place. */
export function heads(db: Database): Job[] {
  const locked = new Set(db.locks.keys())
  return [...db.jobs.values()]
    .filter(({ place }) => place !== null)
    .toSorted((a, b) => (a.place ?? 0) - (b.place ?? 0))
    .filter((job) => !locked.has(lockOf(job)) && locked.add(lockOf(job)))
}
