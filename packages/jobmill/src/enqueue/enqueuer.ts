/**
 * Enqueue as users call it: everything is checked first, ids are minted here, and calls that come at the same time share
 * statements without sharing their fate.
 */
import { JobmillError } from '../job/errors.ts'
import { checkObjectKeys } from '../job/known-keys.ts'
import type { NewJob } from '../job/new-job.ts'
import { type JobRequest, prepareJobs } from '../job/prepare-jobs.ts'
import { type Platform, systemPlatform } from '../platform/platform.ts'
import type { HandOff } from '../store/claim.ts'
import type { Enqueued } from '../store/replies.ts'
import type { Store, TxOf } from '../store/store.ts'
import { type Call, type Batcher, batcher } from './batcher.ts'
import type { Send } from './send-until-known.ts'

export interface EnqueuerOptions {
  /** The largest payload, as JSON. Default 1 MiB. */
  readonly payloadLimitBytes?: number
  /** For tests: timers and ids. */
  readonly platform?: Platform
  /** For a process that also works: its free workers for jobs that are about to be written. */
  readonly offer?: (jobs: readonly NewJob[]) => Offer | undefined | Promise<Offer | undefined>
}

/** What an instance would run at once of a write, and how it hears what became of it. */
interface Offer {
  readonly handOff: HandOff
  readonly accepted: (replies: readonly Enqueued[]) => void
  readonly failed: (error: unknown) => void
}

async function sendWith(
  store: Store,
  jobs: readonly NewJob[],
  offer: Offer | undefined,
): Promise<Enqueued[]> {
  if (offer === undefined) return store.enqueue(jobs, { mayRepeat: false })
  try {
    const replies = await store.enqueue(jobs, { handOff: offer.handOff })
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
   * Resolves after the commit, one answer per job; all jobs of a call are written, or none. With `tx`, a transaction of yours, the
   * jobs exist when you commit it and never did when you roll it back.
   */
  readonly enqueue: (
    requests: readonly JobRequest[],
    options?: { readonly tx?: Tx | undefined },
  ) => Promise<Enqueued[]>
  /** The same for jobs that were prepared already; `mayRepeat` when some of their ids were given by the user. */
  readonly write: (
    jobs: readonly NewJob[],
    options: { readonly tx?: Tx | undefined; readonly mayRepeat: boolean },
  ) => Promise<Enqueued[]>
}

/** Calls that wait for a write keep their payloads in memory, so there must be an end to it. */
const MOST_WAITING_ITEMS = 100_000
const MOST_WAITING_BYTES = 256 * 1024 * 1024

/** One per store and process: what it lets share a statement are the calls made through it. */
export function enqueuer<S extends Store<never>>(store: S, options: EnqueuerOptions = {}): Enqueuer<TxOf<S>> {
  checkObjectKeys(options, 'options', ['payloadLimitBytes', 'platform', 'offer'])
  const { payloadLimitBytes, platform = systemPlatform } = options
  const mintId = (): string => platform.id()
  const preparing = payloadLimitBytes === undefined ? { mintId } : { mintId, payloadLimitBytes }
  // Whatever the store accepts as a transaction is what the type of the answer lets a caller pass.
  const target: Store = store
  const send: Send = (jobs, how) => {
    // Never for a second try: what the first one wrote may be running already.
    if (how.mayRepeat) return target.enqueue(jobs, how)
    const offer = options.offer?.(jobs)
    return offer instanceof Promise
      ? offer.then((late) => sendWith(target, jobs, late))
      : sendWith(target, jobs, offer)
  }

  // Jobs with a dedupe key have lanes of their own: an open transaction of a user's that holds the key would stop everyone.
  const writing = { send, platform, answered }
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

  function answered({ jobs, bytes }: Call): void {
    waiting.items -= jobs.length
    waiting.bytes -= bytes
  }

  function batcherFor(jobs: readonly NewJob[], mayRepeat: boolean): Batcher {
    const withKeys = jobs.some((job) => job.dedupe !== null)
    if (mayRepeat) return withKeys ? givenAndKeyed : given
    return withKeys ? keyed : fresh
  }

  function written(jobs: readonly NewJob[], bytes: number, mayRepeat: boolean): Promise<Enqueued[]> {
    if (waiting.items + jobs.length > MOST_WAITING_ITEMS || waiting.bytes + bytes > MOST_WAITING_BYTES) {
      const fix = 'Enqueue no faster than the database writes: await the calls before'
      const what = `${waiting.items} jobs wait to be written already`
      return Promise.reject(new JobmillError('OVERLOADED', what, { fix }))
    }
    waiting.items += jobs.length
    waiting.bytes += bytes
    return new Promise<Enqueued[]>((resolve, reject) => {
      batcherFor(jobs, mayRepeat).add({ jobs, bytes, resolve, reject })
    })
  }

  const write: Enqueuer<TxOf<S>>['write'] = (jobs, { tx, mayRepeat }) => {
    if (jobs.length === 0) return Promise.resolve([])
    const bytes = jobs.reduce((total, job) => total + job.payload.length, 0)
    if (bytes > MOST_WAITING_BYTES) return Promise.reject(callTooLarge(bytes))
    return tx === undefined ? written(jobs, bytes, mayRepeat) : target.enqueue(jobs, { tx, mayRepeat: true })
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

const mebibytes = (bytes: number): string => `${Math.ceil(bytes / 1024 / 1024)} MiB`

function callTooLarge(bytes: number): JobmillError {
  const what = `this call is ${mebibytes(bytes)}, more than ${mebibytes(MOST_WAITING_BYTES)}`
  return new JobmillError('PAYLOAD_TOO_LARGE', what, { field: 'items', fix: 'Split it into several calls' })
}
