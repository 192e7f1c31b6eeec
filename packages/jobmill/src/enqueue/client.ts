/** `mill.enqueue`: typed by the job definition, validated, routed, and acknowledged after the commit. */
import { isJobmillError, JobmillError } from '../job/errors.ts'
import type { Emit } from '../job/events.ts'
import type { EnqueuedJob, EnqueueItem, EnqueueOptions } from '../job/enqueue/handle.ts'
import type { JobKind } from '../job/kind/job-kind.ts'
import { checkObject, checkObjectKeys, nearest } from '../job/options/known-keys.ts'
import type { NewJob } from '../job/enqueue/new-job.ts'
import { noReply } from '../job/no-reply.ts'
import { ENQUEUE_OPTIONS, ITEM_OPTIONS } from '../job/enqueue/prepare-jobs.ts'
import type { Tracing } from '../job/tracing.ts'
import type { Platform } from '../platform/platform.ts'
import type { Enqueued } from '../store/types/replies.ts'
import type { Enqueuer } from './enqueuer.ts'
import { enqueuedJob } from './job-handle.ts'
import { prepareAtOnce, prepareInSlices, type RequestTools, type Target } from './requests.ts'
import type { Results } from './results.ts'

export interface ClientTools<Tx> extends RequestTools {
  readonly payloadLimitBytes: number
  readonly enqueuer: Enqueuer<Tx>
  /** The kinds that are defined in this process. */
  readonly kinds: readonly string[]
  /** The queues that the options of this process name. */
  readonly queues: ReadonlySet<string>
  readonly results: Pick<Results, 'add' | 'forget'>
  readonly platform: Platform
  readonly emit: Emit
  readonly tracing: Tracing | null
  /** Returns a promise while the store is opening; throws after the store was closed. */
  readonly open: () => Promise<void> | undefined
  /** Called when an enqueued job may have to wait in an order queue, or in its group. */
  readonly lineGrew: () => void
  /** Whether the groups of this queue have limits. */
  readonly hasGroupLimits: (queue: string) => boolean
  /** Called with the queues that received jobs from this process, so that its free workers claim at once. */
  readonly written: (queues: Iterable<string>) => void
}

type WriteOptions<Tx> = EnqueueOptions & {
  /**
   * Your open transaction: the job exists once you commit it. Then call `mill.wake()`, so that the workers of
   * this process start it at once. Other processes notice the commit on their own, within 100 ms if the
   * transaction took at most 2 s.
   */
  readonly tx?: Tx
}

export interface Client<Tx> {
  // The overload with a payload comes last, because compilers report why the last overload does not match.
  enqueue(kind: string): Promise<EnqueuedJob>
  /** Without a payload: null is stored. */
  enqueue<Result>(job: JobKind<null, Result>): Promise<EnqueuedJob<Result>>
  enqueue(kind: string, payload: unknown, options?: WriteOptions<Tx>): Promise<EnqueuedJob>
  enqueue<Input, Result>(
    job: JobKind<Input, Result>,
    payload: Input,
    options?: WriteOptions<Tx>,
  ): Promise<EnqueuedJob<Result>>
  /** Writes all of the jobs, or none. */
  enqueueMany(
    kind: string,
    items: readonly EnqueueItem<unknown>[],
    options?: { readonly tx?: Tx },
  ): Promise<EnqueuedJob[]>
  enqueueMany<Input, Result>(
    job: JobKind<Input, Result>,
    items: readonly EnqueueItem<Input>[],
    options?: { readonly tx?: Tx },
  ): Promise<EnqueuedJob<Result>[]>
  /**
   * Returns and clears the queues that received jobs inside a caller's transaction. No notification was sent
   * for them.
   */
  readonly takeUnnotified: () => string[]
  /**
   * Validates and completes jobs without writing them, for callers that write them together with something
   * else.
   */
  readonly prepare: (
    target: Target,
    items: readonly EnqueueItem<unknown>[],
    many: boolean,
  ) => readonly NewJob[] | Promise<readonly NewJob[]>
}

/**
 * The transaction ended before the store was open. The missing `open()` is the cause, not the transaction.
 */
function openedTooLate(error: unknown): never {
  if (!isJobmillError(error) || error.code !== 'TX_INVALID') throw error
  throw new JobmillError('STORE_CLOSED', 'the store was not open yet when the transaction was passed', {
    fix: 'Call mill.open() or mill.start() before the first transaction',
    cause: error,
  })
}

const placeOfItem = (index: number): string => `items[${index}]`

/** A process that uses more names than this generates them, so none of them is a typo. */
const MOST_CHECKED = 1_000

export function client<Tx>(tools: ClientTools<Tx>): Client<Tx> {
  const { enqueuer, platform, emit, results, payloadLimitBytes, tracing } = tools
  const checkedKinds = new Set<string>()
  const checkedQueues = new Set<string>()
  const unnotified = new Set<string>()
  const mintId = (): string => platform.id()
  const one = { mintId, payloadLimitBytes, placeOf: () => 'job', listedOptions: ENQUEUE_OPTIONS }
  const each = { mintId, payloadLimitBytes, placeOf: placeOfItem, listedOptions: ITEM_OPTIONS }

  function prepare(target: Target, items: readonly EnqueueItem<unknown>[], many: boolean) {
    return prepareAtOnce(target, items, many ? each : one, tools)
  }

  /**
   * As `prepare`, for jobs that are written together with something else. They belong to the caller's trace.
   */
  function prepareTraced(target: Target, items: readonly EnqueueItem<unknown>[], many: boolean) {
    const early = prepare(target, items, many)
    if (tracing === null) return early
    const traced = (jobs: readonly NewJob[]) => tracing.enqueue(jobs, (own) => own)
    return early instanceof Promise ? early.then(traced) : traced(early)
  }

  /** `all` turns the written jobs into the return value, so that one promise serves the whole call. */
  async function write<Answer>(
    target: Target,
    items: readonly EnqueueItem<unknown>[],
    tx: Tx | undefined,
    many: boolean,
    all: (jobs: EnqueuedJob[]) => Answer,
  ): Promise<Answer> {
    // Awaits only where necessary: see requestsFor.
    const opening = tools.open()
    if (opening !== undefined) await opening
    const early =
      many && tx === undefined ? prepareInSlices(target, items, each, tools) : prepare(target, items, many)
    const jobs = early instanceof Promise ? await early : early
    const mayRepeat = items.some((item) => item.id !== undefined)
    const how = { tx, mayRepeat }
    const writing = tracing === null ? enqueuer.write(jobs, how) : writeTraced(tracing, jobs, how)
    const replies = await (opening === undefined ? writing : writing.catch(openedTooLate))
    warnOfTypo(target)
    for (const { queue } of items) if (queue !== undefined) warnOfQueueTypo(queue)
    if (tx !== undefined) for (const { queue } of jobs) unnotified.add(queue)
    else if (!replies.every(isDispatched)) tools.written(queuesToClaim(jobs, replies))
    if (mayRepeat) results.forget(jobs.map(({ id }) => id))
    return all(jobs.map((job, at) => emitEnqueued(job, replies[at], tx !== undefined)))
  }

  async function enqueueWith(
    target: Target,
    payload: unknown,
    options: WriteOptions<Tx>,
  ): Promise<EnqueuedJob<never>> {
    checkObject(options, 'options', "{ delay: '10m' }, or omit it")
    // The parameters would overwrite these. All other unknown options are refused later.
    if ('kind' in options || 'payload' in options) checkObjectKeys(options, 'job', ENQUEUE_OPTIONS)
    const { tx, ...own } = options
    return write(target, [{ ...own, payload }], tx, false, only)
  }

  /** A separate function, so that calls without tracing do not pay for its closure. */
  function writeTraced(
    by: Tracing,
    jobs: readonly NewJob[],
    how: { tx: Tx | undefined; mayRepeat: boolean },
  ) {
    return by.enqueue(jobs, (own) => enqueuer.write(own, how))
  }

  /** Reports a kind that looks like a typo, because no worker would ever run such a job. */
  function warnOfTypo(target: Target): void {
    if (typeof target !== 'string' || checkedKinds.has(target) || checkedKinds.size >= MOST_CHECKED) return
    checkedKinds.add(target)
    const near = tools.definition(target) === undefined ? nearest(target, tools.kinds) : undefined
    if (near !== undefined) emit('kind-unknown', { kind: target, near })
  }

  function warnOfQueueTypo(queue: string): void {
    if (tools.queues.has(queue) || checkedQueues.has(queue) || checkedQueues.size >= MOST_CHECKED) return
    checkedQueues.add(queue)
    const near = nearest(queue, [...tools.queues])
    if (near !== undefined) emit('queue-unknown', { queue, near })
  }

  function mayWait({ orderKey, group, queue }: NewJob): boolean {
    return orderKey !== null || (group !== null && tools.hasGroupLimits(queue))
  }

  function emitEnqueued(job: NewJob, reply: Enqueued | undefined, inTx: boolean): EnqueuedJob {
    const { kind, queue } = job
    const id = reply?.id ?? job.id
    const outcome = reply?.outcome ?? 'enqueued'
    if (outcome === 'duplicate') emit('duplicate', { id, kind, queue })
    else emit('enqueued', { id, kind, queue, outcome })
    if (!inTx && mayWait(job)) tools.lineGrew()
    return enqueuedJob(id, outcome, tools, inTx)
  }

  return {
    takeUnnotified() {
      const queues = [...unnotified]
      unnotified.clear()
      return queues
    },
    prepare: prepareTraced,
    enqueue(target: Target, ...call: [] | [payload: unknown, options?: WriteOptions<Tx> | undefined]) {
      const [payload, options] = call.length === 0 ? [null] : call
      return options === undefined
        ? write(target, [{ payload }], undefined, false, only)
        : enqueueWith(target, payload, options)
    },
    async enqueueMany(
      target: Target,
      items: readonly EnqueueItem<unknown>[],
      options: { readonly tx?: Tx } = {},
    ) {
      checkObjectKeys(options, 'options', ['tx'])
      return write(target, items, options.tx, true, (jobs) => jobs as EnqueuedJob<never>[])
    },
  }
}

function only([job]: readonly EnqueuedJob[]): EnqueuedJob<never> {
  if (job === undefined) throw noReply()
  return job as EnqueuedJob<never>
}

/** Whether direct dispatch gave the job to a worker of this process as it was written. */
const isDispatched = ({ lease }: Enqueued): boolean => lease !== undefined

/** The queues with jobs that still need a worker. */
function queuesToClaim(jobs: readonly NewJob[], replies: readonly Enqueued[]): ReadonlySet<string> {
  const queues = new Set<string>()
  jobs.forEach(({ queue }, at) => {
    if (replies[at]?.lease === undefined) queues.add(queue)
  })
  return queues
}
