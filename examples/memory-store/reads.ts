// The verbs that read jobs, and retention.
import {
  type AttemptRecord,
  type AttemptRun,
  type Chunk,
  DEFAULTS,
  hasAll,
  isDedupeKey,
  isEnded,
  JOB_STATES,
  LOG_END,
  type JobFailure,
  type JobFilter,
  type JobPage,
  type JobRecord,
  type JobResult,
  type JobState,
  type JobSummary,
  listWithinBudget,
  namesOf,
  NOTHING_RETAINED,
  orderOf,
  type Outcome,
  type PageRequest,
  type Position,
  POSITION_MOST,
  type QueueCounts,
  type QueueSettings,
  type Retained,
  type RetainRequest,
  systemPlatform,
  UNSERVED_ROWS,
  type UnservedKind,
} from 'jobmill/store'
import {
  type Attempt,
  byId,
  byName,
  type Database,
  isClaiming,
  type Job,
  runsOf,
  versionOf,
} from './database.ts'
import { inClaimOrder } from './jobs.ts'
import { lockOf } from './moves.ts'

function summary(job: Job): JobSummary {
  const { id, kind, queue, state, priority, attempt, maxAttempts, crashes, tags, orderKey } = job
  const common = { id, kind, queue, state, priority, attempt, maxAttempts, crashes, tags, orderKey }
  return {
    ...common,
    minVersion: null,
    waitsForOrder: job.place !== null,
    enqueuedAt: job.enqueuedAt,
    dueAt: state === 'scheduled' ? job.dueAt : null,
    startedAt: job.run?.startedAt ?? null,
    endedAt: job.endedAt,
    instance: job.run?.instance ?? null,
    cancelReason: job.run?.cancelReason ?? null,
  }
}

const errorOf = (job: Job): string | null => job.attempts.at(-1)?.error ?? null

const FAILED: readonly Outcome[] = ['failed', 'timed-out', 'failed-permanently']

function hasFailed({ attempts }: Job): boolean {
  const last = attempts.at(-1)
  return last !== undefined && FAILED.includes(last.outcome)
}

/** One reply for each id, in the order of the ids. */
function each<T>(db: Database, ids: readonly string[], read: (job: Job) => T): (T | null)[] {
  return ids.map((id) => {
    const job = db.jobs.get(id)
    return job === undefined ? null : read(job)
  })
}

export function get(db: Database, ids: readonly string[]): (JobRecord | null)[] {
  return each(db, ids, (job) => ({
    ...summary(job),
    payload: job.payload,
    metadata: job.metadata,
    result: job.result,
    progress: job.run?.progress ?? null,
    log: job.run?.log ?? null,
    error: errorOf(job),
    timeoutMs: job.timeoutMs,
    dedupeKey: job.dedupe?.key ?? null,
  }))
}

export const results = (db: Database, ids: readonly string[]): (JobResult | null)[] =>
  each(db, ids, (job) => ({ id: job.id, state: job.state, result: job.result, error: errorOf(job) }))

export const history = (db: Database, id: string): AttemptRecord[] =>
  (db.jobs.get(id)?.attempts ?? []).map(({ wentTo: _, ...attempt }) => ({
    ...attempt,
    version: versionOf(db, attempt.instance),
  }))

export function list(db: Database, filter: JobFilter, page: PageRequest): Promise<JobPage> {
  return listWithinBudget(systemPlatform, filter, page, async (from, rows) => chunk(db, filter, from, rows))
}

/** The matching jobs among the next `rows` in the order of the listing. */
function chunk(db: Database, filter: JobFilter, from: Position | null, rows: number): Chunk {
  const order = orderOf(filter)
  const isNewestFirst = order === undefined || isEnded(order)
  const compare = (a: Position, b: Position): number => comparePositions(a, b) * (isNewestFirst ? -1 : 1)
  const after = [...db.jobs.values()]
    .filter(({ state }) => filter.state === undefined || state === filter.state)
    .map((job) => ({ job, position: positionOf(job, order) }))
    .toSorted((a, b) => compare(a.position, b.position))
    .filter(({ position }) => from === null || compare(position, from) > 0)
  const scanned = after.slice(0, rows)
  return {
    jobs: scanned
      .filter(({ job }) => matches(db, job, filter))
      .map(({ job, position }) => ({ job: summary(job), position })),
    scanned: scanned.length,
    last: scanned.at(-1)?.position ?? null,
    end: scanned.length === after.length,
  }
}

function positionOf(job: Job, state: JobState | undefined): Position {
  if (state === undefined) return [job.id]
  if (state === 'scheduled') return [job.dueAt, job.id]
  if (state === 'ready') return [job.priority, job.seq, job.id]
  return [job.run?.startedAt ?? job.endedAt ?? 0, job.id]
}

function comparePositions(a: Position, b: Position): number {
  const at = a.findIndex((part, index) => part !== b[index])
  return at === -1 ? 0 : (a[at] ?? 0) < (b[at] ?? 0) ? -1 : 1
}

/** A job without this instant is outside of every range. */
function isWithin(at: number | null | undefined, from?: number, before?: number): boolean {
  if (from === undefined && before === undefined) return true
  return at !== null && at !== undefined && at >= (from ?? -Infinity) && at < (before ?? Infinity)
}

/** The last attempt of a dead job failed, even if it was interrupted. */
function lastFailure({ state, attempts }: Job): Attempt | undefined {
  return state === 'dead' ? attempts.at(-1) : attempts.findLast(({ outcome }) => FAILED.includes(outcome))
}

function matches(db: Database, job: Job, filter: JobFilter): boolean {
  const last = job.run ?? job.attempts.at(-1)
  const { tags = [], payloadText = '', payloadAt = [], errorText } = filter
  return (
    (namesOf(filter.queue)?.includes(job.queue) ?? true) &&
    (namesOf(filter.kind)?.includes(job.kind) ?? true) &&
    (filter.retrying !== true || hasFailed(job)) &&
    isWithin(job.endedAt, filter.endedFrom, filter.endedBefore) &&
    (namesOf(filter.version)?.some((one) => one === versionOf(db, last?.instance)) ?? true) &&
    isWithin(last?.startedAt, filter.startedFrom, filter.startedBefore) &&
    isWithin(lastFailure(job)?.endedAt, filter.failedFrom, filter.failedBefore) &&
    (filter.orderKey === undefined || job.orderKey === filter.orderKey) &&
    (filter.dedupeKey === undefined || isDedupeKey(job.dedupe?.key, filter.dedupeKey)) &&
    isWithin(job.enqueuedAt, filter.enqueuedFrom, filter.enqueuedBefore) &&
    tags.every((tag) => job.tags.includes(tag)) &&
    job.payload.includes(payloadText) &&
    hasAll(job.payload, payloadAt) &&
    (errorText === undefined || (job.state !== 'done' && (errorOf(job) ?? '').includes(errorText)))
  )
}

export function counts(db: Database, now: number): QueueCounts[] {
  return byName(db.queues).map(([queue]) => {
    const jobs = [...db.jobs.values()].filter((job) => job.queue === queue)
    const count = (state: JobState): number => jobs.filter((job) => job.state === state).length
    const states = Object.fromEntries(JOB_STATES.map((state) => [state, count(state)]))
    const readyAts = jobs.filter(({ state }) => state === 'ready').map(({ readyAt }) => readyAt)
    const oldestReadyMs = readyAts.length === 0 ? null : now - Math.min(...readyAts)
    return { queue, ...(states as Record<JobState, number>), oldestReadyMs }
  })
}

export function failures(db: Database, ids: readonly string[]): (JobFailure | null)[] {
  return each(db, ids, (job) => {
    const last = job.attempts.at(-1)
    if (last === undefined || !(job.state === 'dead' || hasFailed(job))) return null
    const first = job.attempts.find((one) => one !== last && FAILED.includes(one.outcome))
    return {
      error: last.error,
      at: last.endedAt,
      outcome: last.outcome,
      version: versionOf(db, last.instance),
      logEnd: logEnd(last.log),
      first: first === undefined ? null : { at: first.endedAt, error: first.error },
    }
  })
}

function logEnd(log: string | null): string | null {
  if (log === null || Buffer.byteLength(log) > LOG_END.mostBytes) return null
  return Array.from(log).slice(-LOG_END.chars).join('')
}

export function runs(db: Database, ids: readonly string[], endedFrom: number): AttemptRun[] {
  const found = [...new Set(ids)].flatMap((id) =>
    (db.jobs.get(id)?.attempts ?? []).flatMap(({ attempt, instance, startedAt, endedAt, outcome }) =>
      instance === null || startedAt === null || endedAt < endedFrom
        ? []
        : [{ id, attempt, instance, startedAt, endedAt, outcome }],
    ),
  )
  return found.toSorted((a, b) => a.endedAt - b.endedAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
}

export function position(db: Database, id: string, kinds?: readonly string[]): number | null {
  const job = db.jobs.get(id)
  if (job?.state !== 'ready') return null
  const ready = inClaimOrder(db).filter(({ queue }) => queue === job.queue)
  const before = ready.slice(0, ready.indexOf(job)).filter(({ kind }) => kinds?.includes(kind) ?? true)
  return Math.min(POSITION_MOST, before.length)
}

export function blocker(db: Database, id: string): string | null {
  const job = db.jobs.get(id)
  if (job === undefined || job.place === null) return null
  const line = [...db.jobs.values()].filter((one) => one.place !== null && lockOf(one) === lockOf(job))
  const [next] = line.toSorted((a, b) => (a.place ?? 0) - (b.place ?? 0))
  const first = db.locks.get(lockOf(job)) ?? next?.id ?? id
  return first === id ? null : first
}

export function unservedKinds(db: Database, now: number): UnservedKind[] {
  const alive = [...db.instances.values()].filter(({ id }) => isClaiming(db, now, id))
  const isServed = ({ queue, kind }: Job): boolean =>
    alive.some(({ queues, kinds }) => queues.includes(queue) && kinds.includes(kind))
  return byName(Map.groupBy(inClaimOrder(db), ({ queue }) => queue)).flatMap(([queue, ready]) => {
    const waiting = ready.slice(0, UNSERVED_ROWS).filter((job) => !isServed(job))
    const byKind = byName(Map.groupBy(waiting, ({ kind }) => kind))
    return byKind.map(([kind, jobs]) => ({ queue, kind, minVersion: null, jobs: jobs.length }))
  })
}

const KEPT = {
  done: ['retainDoneMs', 'keepDone'],
  cancelled: ['retainCancelledMs', 'keepCancelled'],
  dead: ['retainDeadMs', 'keepDead'],
} as const satisfies Partial<Record<JobState, readonly (keyof QueueSettings)[]>>

export function retain(db: Database, now: number, { limit, queues }: RetainRequest): Retained {
  const surplus = tooManyOrOld(db, now).filter(({ queue }) => queues?.includes(queue) ?? true)
  const old = surplus.slice(0, limit)
  for (const { id } of old) db.jobs.delete(id)
  const count = (as: JobState): number => old.filter(({ state }) => state === as).length
  const jobs = { jobs: old.length, done: count('done'), dead: count('dead'), cancelled: count('cancelled') }

  const keys = [...db.holds].filter(([, { until }]) => until !== null && until <= now)
  for (const [key] of keys) db.holds.delete(key)
  const gone = [...db.instances.values()].filter(({ id, endedAt }) => {
    const isOld = endedAt !== null && now - endedAt >= DEFAULTS.keepEndedInstanceMs
    return isOld && runsOf(db, id).length === 0
  })
  const first = now - DEFAULTS.keepVersionsMs
  for (const [id, { endedAt }] of db.pastInstances) if (endedAt <= first) db.pastInstances.delete(id)
  for (const { id, version, startedAt, endedAt } of gone) {
    if (version !== null) db.pastInstances.set(id, { version, startedAt, endedAt: endedAt ?? now })
    db.instances.delete(id)
  }
  const others = { keys: keys.length, instances: gone.length, more: old.length === limit }
  return { ...NOTHING_RETAINED, ...jobs, ...others }
}

/** The ended jobs beyond the age or the number that their queue keeps, oldest first. */
function tooManyOrOld(db: Database, now: number): Job[] {
  const ageOf = ({ endedAt }: Job): number => now - (endedAt ?? now)
  const ended = [...db.jobs.values()].filter(({ state }) => isEnded(state))
  const oldestFirst = ended.toSorted((a, b) => ageOf(b) - ageOf(a) || byId(a, b))
  return oldestFirst.filter((job) => {
    const settings = db.queues.get(job.queue)?.settings
    if (settings === undefined || !isEnded(job.state)) return false
    const [age, number] = KEPT[job.state]
    const [ageMs, most] = [settings[age], settings[number]]
    if (ageMs !== null && ageOf(job) >= ageMs) return true
    const alike = oldestFirst.filter(({ queue, state }) => queue === job.queue && state === job.state)
    return most !== null && alike.indexOf(job) < alike.length - most
  })
}
