/** `mill.why()`: everything that blocks a job, in a fixed order, each with a sentence. */
import { DEFAULTS } from '../../job/defaults.ts'
import { storedKind, versionText } from '../../job/kind/kind-name.ts'
import { isDebounced } from '../../job/enqueue/new-job.ts'
import { checkId } from '../../job/names.ts'
import { isEnded, type JobState } from '../../job/state.ts'
import { countText } from '../../job/text/count-text.ts'
import { spanText } from '../../job/text/span-text.ts'
import type { FullStore } from '../../store/store.ts'
import { isClaiming } from '../../store/types/instance.ts'
import type { GroupRecord } from '../../store/types/group.ts'
import type { AttemptRecord, JobRecord, JobResult } from '../../store/types/job-record.ts'
import type { StepKind, StepRecord } from '../../store/types/step.ts'
import { POSITION_MOST } from '../../store/types/queue-record.ts'
import { queueWorkers } from '../report/queue-workers.ts'
import type { MillTools } from '../tools.ts'

export const REASONS = [
  'step',
  'due-later',
  'order',
  'group',
  'paused',
  'queue-without-worker',
  'kind-without-worker',
  'no-workers',
  'cooling',
  'limit',
  'quarantined',
  'busy',
  'behind',
  'next',
] as const
export type ReasonName = (typeof REASONS)[number]

interface Reason {
  readonly why: ReasonName
  /** A sentence for operators. */
  readonly message: string
  /** When the reason ends, if known. */
  readonly until: number | null
  /**
   * The job in question: for `order`, the one that must end first; for `step`, a child that has not ended.
   * Null for the other reasons.
   */
  readonly job: string | null
}

export interface Why {
  readonly state: JobState
  /** Empty for a job that is running or has ended. */
  readonly reasons: readonly Reason[]
}

export interface Explain {
  /** Why a job is not running. Null when no job has this id. */
  why(id: string): Promise<Why | null>
}

export function explain({ opened }: MillTools): Explain {
  return {
    async why(id) {
      const store = await opened()
      const [job] = await store.get([checkId(id, 'id')])
      if (job === undefined || job === null) return null
      if (job.state !== 'scheduled' && job.state !== 'ready') return { state: job.state, reasons: [] }
      return { state: job.state, reasons: reasonsIn(await sceneOf(store, job)) }
    },
  }
}

type Scene = Awaited<ReturnType<typeof sceneOf>>

async function sceneOf(store: FullStore, job: JobRecord) {
  const [now, queues, limits, instances, attempts, counts, slots] = await Promise.all([
    store.now(),
    store.queues.list(),
    store.limits.list(),
    store.instances.list(),
    store.history(job.id),
    store.counts(),
    store.instances.slots(),
  ])
  const queue = queues.find(({ name }) => name === job.queue)
  const serving = instances.filter((one) => isClaiming(one) && one.queues.includes(job.queue))
  return {
    job,
    now,
    queue,
    limit: limits.find(({ name }) => name === queue?.limit),
    /** The running processes that claim from its queue. */
    serving,
    /** Counts only jobs of kinds that a running process handles: the others do not block this one. */
    ahead: await store.inspect.position(job.id, [...new Set(serving.flatMap(({ kinds }) => kinds))]),
    last: attempts.at(-1),
    /** The number of running jobs in its queue. */
    running: counts.find((one) => one.queue === job.queue)?.running ?? 0,
    /** The assigned shares of its queue, if the queue has a worker total. */
    slots: slots.filter((slot) => slot.queue === job.queue),
    blocker: job.waitsForOrder ? await blockerOf(store, job.id) : null,
    waits: await openWaits(store, job, attempts.at(-1)),
    group: job.waitsForGroup && job.group !== null ? await groupOf(store, job.queue, job.group) : null,
  }
}

/** An open wait of a parked job. `children` counts the child jobs that it waits for, and names one. */
type OpenWait = StepRecord & {
  readonly children?: { readonly open: number; readonly of: number; readonly first: string }
}

const WAITS: readonly StepKind[] = ['sleep', 'event', 'child']

async function openWaits(
  store: FullStore,
  job: JobRecord,
  last: AttemptRecord | undefined,
): Promise<readonly OpenWait[]> {
  if (job.state !== 'scheduled' || last?.outcome !== 'parked') return []
  const steps = (await store.steps.list(job.id)) ?? []
  const waits: OpenWait[] = []
  for (const step of steps) {
    if (step.endedAt !== null || !WAITS.includes(step.kind)) continue
    if (step.kind !== 'child') {
      waits.push(step)
      continue
    }
    const children = await store.steps.children(job.id, { step: step.name, results: false })
    const open = children.filter(({ endedAs }) => endedAs === null)
    const [first] = open
    if (first !== undefined)
      waits.push({ ...step, children: { open: open.length, of: children.length, first: first.id } })
  }
  return waits
}

/** The job that must end before this one gets its order lock. Null if it has just ended. */
async function blockerOf(store: FullStore, id: string): Promise<JobResult | null> {
  const blocker = await store.inspect.blocker(id)
  const [found = null] = blocker === null ? [] : await store.results([blocker])
  return found === null || isEnded(found.state) ? null : found
}

async function groupOf(store: FullStore, queue: string, name: string): Promise<GroupRecord | null> {
  const [group = null] = await store.groups.list(queue, { limit: 1, names: [name] })
  return group
}

/** In a fixed order: what concerns the job itself, its queue, its workers, the limit, and the jobs ahead. */
function reasonsIn(scene: Scene): Reason[] {
  const blocked = [...waiting(scene), ...queueBlocked(scene), ...unservedKinds(scene), ...limited(scene)]
  const found = [
    ...blocked,
    ...quarantined(scene),
    ...(blocked.length === 0 ? busy(scene) : []),
    ...behind(scene),
  ]
  if (found.length > 0) return found
  return [reason('next', 'Nothing is blocking it: it starts as soon as a worker is free')]
}

function reason(why: ReasonName, message: string, until: number | null = null): Reason {
  return { why, message, until, job: null }
}

/** Its due time, its order key, its group, or the waits of its steps. */
function* waiting({ job, now, last, blocker, waits, group }: Scene): Generator<Reason> {
  if (blocker !== null) {
    const { id, state } = blocker
    const message = `Blocked by job ${id}, which has the same order key ${JSON.stringify(job.orderKey)} and is ${state}`
    yield { ...reason('order', message), job: id }
  }
  if (group !== null) yield* waitsForGroup(group, now)
  for (const step of waits)
    yield { ...reason('step', waitText(step, now), step.dueAt), job: step.children?.first ?? null }
  if (waits.length > 0 || job.waitsForOrder || job.waitsForGroup || job.dueAt === null) return
  const left = spanText(job.dueAt - now)
  const more = last === undefined ? (isDebounced(job) ? NOT_AGAIN : '') : afterAttempt(last)
  yield reason('due-later', `Due in ${left}${more}`, job.dueAt)
}

/** What its group waits for. Nothing, if stage is about to make the job ready. */
function* waitsForGroup(group: GroupRecord, now: number): Generator<Reason> {
  const { name, paused, concurrency, running, rate, ratePerMs, nextTokenMs, waiting } = group
  const others = `${countText(waiting, 'job')} of it ${waiting === 1 ? 'waits' : 'wait'}`
  if (paused) yield reason('group', `Group ${name} is paused: ${others}`)
  else if (concurrency !== null && running >= concurrency)
    yield reason('group', `Group ${name}: ${running} of ${concurrency} running, ${others}`)
  else if (rate !== null && nextTokenMs !== null) {
    const per = spanText(ratePerMs ?? 0)
    const message = `Group ${name} starts ${rate} per ${per}: its next token comes in ${spanText(nextTokenMs)}, ${others}`
    yield reason('group', message, now + nextTokenMs)
  } else if (concurrency !== null)
    yield reason(
      'group',
      `Group ${name} runs at most ${concurrency} at once, and others of it are ready to run`,
    )
}

function waitText({ name, events, dueAt, children }: OpenWait, now: number): string {
  if (children !== undefined) {
    const { open, of, first } = children
    const which = of === 1 ? `its child job ${first}` : `${open} of its ${of} child jobs, such as ${first}`
    return `Step ${JSON.stringify(name)} waits for ${which}`
  }
  const left = dueAt === null ? null : spanText(dueAt - now)
  if (events.length === 0) return `Step ${JSON.stringify(name)} sleeps for another ${left ?? ''}`
  const wanted = events.map((event) => JSON.stringify(event)).join(' or ')
  const until = left === null ? '' : `, for at most another ${left}`
  return `Step ${JSON.stringify(name)} waits for the event ${wanted}${until}`
}

const NOT_AGAIN = ', because it is debounced. Another enqueue with its key starts the wait again'

/** A snooze may say why: an empty limit, or what the handler passed to `Snooze`. */
function afterAttempt({ outcome, error }: AttemptRecord): string {
  const why = outcome === 'snoozed' && error !== null ? `: ${error}` : ''
  return `, because the last attempt ${BECAUSE[outcome] ?? 'ended'}${why}`
}

const BECAUSE: Readonly<Partial<Record<AttemptRecord['outcome'], string>>> = {
  failed: 'failed',
  'timed-out': 'timed out',
  snoozed: 'was snoozed',
  throttled: 'was throttled',
}

/** Its queue is paused, has no workers, or is cooling down. */
function* queueBlocked({ queue, now }: Scene): Generator<Reason> {
  if (queue?.paused === true) yield reason('paused', `Queue ${queue.name} is paused`)
  if (queue?.workers === 0) yield reason('no-workers', `Queue ${queue.name} has 0 workers`)
  if (queue !== undefined && queue.coolingMs > 0) {
    const message = `Queue ${queue.name} is cooling down for another ${spanText(queue.coolingMs)}`
    yield reason('cooling', message, now + queue.coolingMs)
  }
}

function* unservedKinds({ job, serving }: Scene): Generator<Reason> {
  if (serving.length === 0)
    yield reason('queue-without-worker', `No running process serves queue ${job.queue}`)
  else if (!serving.some(({ kinds }) => kinds.includes(storedKind(job))))
    yield reason(
      'kind-without-worker',
      `No running process that serves queue ${job.queue} handles kind ${job.kind}${versionText(job)}`,
    )
}

/** The limit of its queue. */
function* limited({ limit, now }: Scene): Generator<Reason> {
  if (limit === undefined || limit.available > 0) return
  if (limit.drainedMs > 0) {
    const message = `Limit ${limit.name} grants nothing for another ${spanText(limit.drainedMs)}`
    yield reason('limit', message, now + limit.drainedMs)
  } else if (limit.nextInMs === null) yield reason('limit', `All permits of limit ${limit.name} are in use`)
  else {
    const message = `Limit ${limit.name} is empty for another ${spanText(limit.nextInMs)}`
    yield reason('limit', message, now + limit.nextInMs)
  }
}

function* quarantined({ job }: Scene): Generator<Reason> {
  if (job.state === 'ready' && job.crashes >= DEFAULTS.crashesUntilAlone)
    yield reason(
      'quarantined',
      `Quarantined after ${countText(job.crashes, 'crash', 'crashes')}: it runs when a process has no other job to run`,
    )
}

/** All workers of its queue are busy. */
function* busy({ job, queue, serving, running, slots }: Scene): Generator<Reason> {
  const instances = serving.map(({ id }) => id)
  const workers = queueWorkers({ total: queue?.workers ?? null, instances, slots })
  if (job.state !== 'ready' || running < workers) return
  const message =
    workers === 1
      ? `The only worker of queue ${job.queue} is busy`
      : `All ${workers} workers of queue ${job.queue} are busy`
  yield reason('busy', message)
}

function* behind({ job, ahead, queue }: Scene): Generator<Reason> {
  if (ahead === null || ahead === 0) return
  const many = ahead >= POSITION_MOST ? `${POSITION_MOST} or more` : String(ahead)
  // In a fair queue, the jobs of other groups do not delay it.
  const where = queue?.groupFair === true && job.group !== null ? `group ${job.group}` : `queue ${job.queue}`
  yield reason('behind', `${many} ready ${ahead === 1 ? 'job is' : 'jobs are'} ahead of it in ${where}`)
}
