/** Enqueue as users call it: typed by the job, validated, routed, and acknowledged after the commit. */
import type { JobDefinition } from '../job/definition.ts'
import { isJobmillError, JobmillError } from '../job/errors.ts'
import type { Emit } from '../job/events.ts'
import type { EnqueuedJob, EnqueueItem, EnqueueOptions } from '../job/handle.ts'
import { checkObject, checkObjectKeys, nearest } from '../job/known-keys.ts'
import type { NewJob } from '../job/new-job.ts'
import type { Tracing } from '../job/tracing.ts'
import type { Platform } from '../platform/platform.ts'
import type { Enqueued } from '../store/replies.ts'
import type { Enqueuer } from './enqueuer.ts'
import { enqueuedJob } from './job-handle.ts'
import { prepareAtOnce, prepareInSlices } from './prepare-call.ts'
import type { RequestTools, Target } from './requests.ts'
import type { Results } from './results.ts'

export interface ClientTools<Tx> extends RequestTools {
  readonly enqueuer: Enqueuer<Tx>
  /** The kinds that this process knows. */
  readonly kinds: readonly string[]
  readonly results: Results
  readonly platform: Platform
  readonly emit: Emit
  readonly tracing: Tracing | null
  /** A promise while the store is not open yet; throws when it never will be again. */
  readonly open: () => Promise<void> | undefined
  /** Some of what was enqueued waits for its turn. */
  readonly lineGrew: () => void
  /** These queues got something from this process: whoever is free here need not wait to be chosen. */
  readonly written: (queues: Iterable<string>) => void
}

export interface Client<Tx> {
  // By its definition last: of several ways to call it, compilers explain why the last one does not fit.
  enqueue(
    kind: string,
    payload: unknown,
    options?: EnqueueOptions & { readonly tx?: Tx },
  ): Promise<EnqueuedJob>
  enqueue<Input, Result>(
    job: JobDefinition<Input, Result>,
    payload: Input,
    options?: EnqueueOptions & { readonly tx?: Tx },
  ): Promise<EnqueuedJob<Result>>
  /** All of them, or none. */
  enqueueMany(
    kind: string,
    items: readonly EnqueueItem<unknown>[],
    options?: { readonly tx?: Tx },
  ): Promise<EnqueuedJob[]>
  enqueueMany<Input, Result>(
    job: JobDefinition<Input, Result>,
    items: readonly EnqueueItem<Input>[],
    options?: { readonly tx?: Tx },
  ): Promise<EnqueuedJob<Result>[]>
  /** The queues that got something in a transaction of a user's since this was last asked: nobody rang for them. */
  readonly takeUnnotified: () => string[]
  /** Checked and complete, and not written: for jobs that are written together with something else. */
  readonly prepare: (
    target: Target,
    items: readonly EnqueueItem<unknown>[],
    many: boolean,
  ) => readonly NewJob[] | Promise<readonly NewJob[]>
}

/** A transaction that was over before the store was open: what is missing is not the transaction. */
function openedTooLate(error: unknown): never {
  if (!isJobmillError(error) || error.code !== 'TX_INVALID') throw error
  throw new JobmillError('STORE_CLOSED', 'the store was not open when the transaction was given', {
    fix: 'Call open() or start() of the mill before the first transaction',
    cause: error,
  })
}

export function client<Tx>(tools: ClientTools<Tx>): Client<Tx> {
  const { enqueuer, platform, emit, results, payloadLimitBytes, tracing } = tools
  const looked = new Set<string>()
  const unnotified = new Set<string>()
  const mintId = (): string => platform.id()
  const one = { mintId, payloadLimitBytes, placeOf: () => 'job' }
  const each = { mintId, payloadLimitBytes, placeOf: (index: number) => `items[${index}]` }

  function prepare(target: Target, items: readonly EnqueueItem<unknown>[], many: boolean) {
    return prepareAtOnce(target, items, many ? each : one, tools)
  }

  /** The same for jobs that are written together with something else: their trace is that of whoever prepares them. */
  function prepareTraced(target: Target, items: readonly EnqueueItem<unknown>[], many: boolean) {
    const early = prepare(target, items, many)
    if (tracing === null) return early
    const traced = (jobs: readonly NewJob[]) => tracing.enqueue(jobs, (own) => own)
    return early instanceof Promise ? early.then(traced) : traced(early)
  }

  /** `all` makes the answer of what was written: one promise for the whole call. */
  async function write<Answer>(
    target: Target,
    items: readonly EnqueueItem<unknown>[],
    tx: Tx | undefined,
    many: boolean,
    all: (jobs: EnqueuedJob[]) => Answer,
  ): Promise<Answer> {
    // Nothing is awaited that need not be: see requestsFor.
    const opening = tools.open()
    if (opening !== undefined) await opening
    const early =
      many && tx === undefined ? prepareInSlices(target, items, each, tools) : prepare(target, items, many)
    const jobs = early instanceof Promise ? await early : early
    const mayRepeat = items.some((item) => item.id !== undefined)
    const how = { tx, mayRepeat }
    const writing = tracing === null ? enqueuer.write(jobs, how) : writeTraced(tracing, jobs, how)
    const replies = await (opening === undefined ? writing : writing.catch(openedTooLate))
    look(target)
    if (tx !== undefined) for (const { queue } of jobs) unnotified.add(queue)
    else if (!replies.every(isHandedOff)) tools.written(queuesToLookAt(jobs, replies))
    if (mayRepeat) results.forget(jobs.map(({ id }) => id))
    return all(jobs.map((job, at) => told(job, replies[at], tx !== undefined)))
  }

  async function enqueueWith(
    target: Target,
    payload: unknown,
    options: EnqueueOptions & { readonly tx?: Tx },
  ): Promise<EnqueuedJob<never>> {
    checkObject(options, 'options', "{ delay: '10m' }, or leave it out")
    const { tx, ...own } = options
    return write(target, [{ ...own, payload }], tx, false, only)
  }

  /** Apart, so that without tracing no call pays for what this one closes over. */
  function writeTraced(
    by: Tracing,
    jobs: readonly NewJob[],
    how: { tx: Tx | undefined; mayRepeat: boolean },
  ) {
    return by.enqueue(jobs, (own) => enqueuer.write(own, how))
  }

  /** A typo in a name makes a job that waits for ever. */
  function look(target: Target): void {
    if (typeof target !== 'string' || looked.has(target)) return
    looked.add(target)
    const near = tools.definition(target) === undefined ? nearest(target, tools.kinds) : undefined
    if (near !== undefined) emit('kind-unknown', { kind: target, near })
  }

  function told(job: NewJob, reply: Enqueued | undefined, inTx: boolean): EnqueuedJob {
    const { kind, queue } = job
    const id = reply?.id ?? job.id
    const outcome = reply?.outcome ?? 'enqueued'
    if (outcome === 'duplicate') emit('duplicate', { id, kind, queue })
    else emit('enqueued', { id, kind, queue, outcome })
    if (job.orderKey !== null && !inTx) tools.lineGrew()
    return enqueuedJob(id, outcome, tools, inTx)
  }

  return {
    takeUnnotified() {
      const queues = [...unnotified]
      unnotified.clear()
      return queues
    },
    prepare: prepareTraced,
    enqueue(target: Target, payload: unknown, options?: EnqueueOptions & { readonly tx?: Tx }) {
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
  if (job === undefined) throw new JobmillError('OUTCOME_UNKNOWN', 'the store gave no answer')
  return job as EnqueuedJob<never>
}

/** Handed to a worker of this process as it was written. */
const isHandedOff = ({ lease }: Enqueued): boolean => lease !== undefined

/** Where a job may wait for a worker. */
function queuesToLookAt(jobs: readonly NewJob[], replies: readonly Enqueued[]): ReadonlySet<string> {
  const queues = new Set<string>()
  jobs.forEach(({ queue }, at) => {
    if (replies[at]?.lease === undefined) queues.add(queue)
  })
  return queues
}
