/**
 * Validates jobs, mints their ids, and writes them in batches. Calls made at the same time share statements,
 * but each call succeeds or fails on its own.
 */
import { BOUNDS } from '../job/defaults.ts'
import { JobmillError } from '../job/errors.ts'
import { checkObjectKeys } from '../job/options/known-keys.ts'
import { bytesOf, type NewJob } from '../job/enqueue/new-job.ts'
import { type JobRequest, prepareJobs } from '../job/enqueue/prepare-jobs.ts'
import { type Platform, systemPlatform } from '../platform/platform.ts'
import type { DirectDispatchOffer } from '../store/types/claim.ts'
import type { Enqueued } from '../store/types/replies.ts'
import type { FullStore, TxOf } from '../store/store.ts'
import { batcher, type Call, type Send } from './batcher.ts'

export interface EnqueuerOptions {
  /** The largest payload, as JSON. Default 1 MiB. */
  readonly payloadLimitBytes?: number
  /** For tests: timers and ids. */
  readonly platform?: Platform
  /** For a process that also runs jobs: offers its free workers to jobs that are about to be written. */
  readonly offer?: (jobs: readonly NewJob[]) => Offer | undefined | Promise<Offer | undefined>
}

/** The direct dispatch that an instance offers for one write, with callbacks for its outcome. */
interface Offer {
  readonly directDispatch: DirectDispatchOffer
  readonly accepted: (replies: readonly Enqueued[]) => void
  readonly failed: (error: unknown) => void
}

async function sendWith(
  store: FullStore,
  jobs: readonly NewJob[],
  offer: Offer | undefined,
): Promise<Enqueued[]> {
  if (offer === undefined) return store.enqueue(jobs, { mayRepeat: false })
  try {
    const replies = await store.enqueue(jobs, { directDispatch: offer.directDispatch })
    offer.accepted(replies)
    return replies
  } catch (error) {
    offer.failed(error)
    throw error
  }
}

const keyOf = ({ dedupe }: NewJob): string[] => (dedupe === null ? [] : [dedupe.key])

export interface Enqueuer<Tx> {
  /**
   * Resolves after the commit with one answer per job; a call writes all of its jobs or none. With `tx`, the
   * jobs exist once that transaction commits, and never if it rolls back.
   */
  readonly enqueue: (
    requests: readonly JobRequest[],
    options?: { readonly tx?: Tx | undefined },
  ) => Promise<Enqueued[]>
  /**
   * As `enqueue`, for jobs that are already prepared. Set `mayRepeat` when the caller chose some of the ids.
   */
  readonly write: (
    jobs: readonly NewJob[],
    options: { readonly tx?: Tx | undefined; readonly mayRepeat: boolean },
  ) => Promise<Enqueued[]>
}

/** Waiting calls keep their payloads in memory, so their number is bounded. */
const MOST_WAITING_ITEMS = 100_000
const MOST_WAITING_BYTES = BOUNDS.callBytes

/** Create one per store and process: only calls made through the same enqueuer share statements. */
export function enqueuer<S extends FullStore<never>>(
  store: S,
  options: EnqueuerOptions = {},
): Enqueuer<TxOf<S>> {
  checkObjectKeys(options, 'options', ['payloadLimitBytes', 'platform', 'offer'])
  const { payloadLimitBytes, platform = systemPlatform } = options
  const mintId = (): string => platform.id()
  const preparing = payloadLimitBytes === undefined ? { mintId } : { mintId, payloadLimitBytes }
  // The return type already restricts `tx` to the transaction type of this store.
  const target: FullStore = store
  const { callLimitBytes = BOUNDS.callBytes } = target
  const send: Send = (jobs, how) => {
    // Never offer workers on a resend: jobs written by the first send may already be running.
    if (how.mayRepeat) return target.enqueue(jobs, how)
    const offer = options.offer?.(jobs)
    return offer instanceof Promise
      ? offer.then((late) => sendWith(target, jobs, late))
      : sendWith(target, jobs, offer)
  }

  // Jobs with a dedupe key get their own batchers. A caller's open transaction that holds the key would
  // otherwise block every enqueue.
  const writing = { send, platform, onAnswered }
  const fresh = batcher({ ...writing, width: 2, mayRepeat: false })
  const keyed = batcher({ ...writing, width: 1, mayRepeat: false, identities: keyOf })
  const given = batcher({ ...writing, width: 1, mayRepeat: true, identities: (job) => [job.id] })
  const givenAndKeyed = batcher({
    ...writing,
    width: 1,
    mayRepeat: true,
    identities: (job) => [job.id, ...keyOf(job)],
  })
  const waiting = { items: 0, bytes: 0 }

  function onAnswered({ jobs, bytes }: Call): void {
    waiting.items -= jobs.length
    waiting.bytes -= bytes
  }

  function batcherFor(jobs: readonly NewJob[], mayRepeat: boolean): (call: Call) => void {
    const withKeys = jobs.some((job) => job.dedupe !== null)
    if (mayRepeat) return withKeys ? givenAndKeyed : given
    return withKeys ? keyed : fresh
  }

  function writeInBatch(jobs: readonly NewJob[], bytes: number, mayRepeat: boolean): Promise<Enqueued[]> {
    if (waiting.items + jobs.length > MOST_WAITING_ITEMS || waiting.bytes + bytes > MOST_WAITING_BYTES) {
      const fix = 'Await earlier calls before you enqueue more'
      const what = `${waiting.items} jobs are already waiting to be written`
      return Promise.reject(new JobmillError('OVERLOADED', what, { fix }))
    }
    waiting.items += jobs.length
    waiting.bytes += bytes
    const add = batcherFor(jobs, mayRepeat)
    return new Promise<Enqueued[]>((resolve, reject) => add({ jobs, bytes, resolve, reject }))
  }

  const write: Enqueuer<TxOf<S>>['write'] = (jobs, { tx, mayRepeat }) => {
    if (jobs.length === 0) return Promise.resolve([])
    const bytes = jobs.reduce((total, job) => total + bytesOf(job), 0)
    if (bytes > callLimitBytes) return Promise.reject(callTooLarge(bytes, callLimitBytes))
    return tx === undefined
      ? writeInBatch(jobs, bytes, mayRepeat)
      : target.enqueue(jobs, { tx, mayRepeat: true })
  }

  return {
    write,
    async enqueue(requests, call = {}) {
      checkObjectKeys(call, 'options', ['tx'])
      const jobs = prepareJobs(requests, preparing)
      return write(jobs, { tx: call.tx, mayRepeat: requests.some(({ id }) => id !== undefined) })
    },
  }
}

export const mebibytes = (bytes: number): string => `${Math.ceil(bytes / 1024 / 1024)} MiB`

function callTooLarge(bytes: number, most: number): JobmillError {
  return new JobmillError('PAYLOAD_TOO_LARGE', `must not exceed ${mebibytes(most)} in total`, {
    field: 'items',
    value: mebibytes(bytes),
    fix: 'Split the items into several calls',
  })
}
