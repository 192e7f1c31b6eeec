/**
 * Batches enqueue calls. Calls made together share one write, and so do calls that arrive while writes are in
 * flight. There is no timer: a call is sent at once when a slot is free, and batches grow under load.
 */
import { isJobmillError, isRefusal, type JobmillError } from '../job/errors.ts'
import type { NewJob } from '../job/enqueue/new-job.ts'
import type { Platform } from '../platform/platform.ts'
import type { Enqueued } from '../store/types/replies.ts'
import { sleep } from '../platform/sleep.ts'

const MOST_ITEMS = 1_000
const MOST_BYTES = 4 * 1024 * 1024

/** One `enqueue` call. Its jobs are written all or none. */
export interface Call {
  readonly jobs: readonly NewJob[]
  readonly bytes: number
  resolve(replies: Enqueued[]): void
  reject(error: unknown): void
}

export interface BatcherOptions {
  readonly send: Send
  readonly platform: Platform
  /** How many writes may be in flight at once. */
  readonly width: number
  /**
   * Ids and dedupe keys of a job. Two jobs that share one cannot go into the same write. Omitted where jobs
   * have neither.
   */
  readonly identities?: (job: NewJob) => readonly string[]
  /** Whether ids in this batcher may already exist in the database. */
  readonly mayRepeat: boolean
  /** Called just before a call is resolved or rejected. */
  readonly onAnswered: (call: Call) => void
}

const NONE: readonly string[] = []
/** The maximum number of refused writes in a search: enough to find three bad calls among a thousand. */
const MOST_REFUSALS = 32

const jobsOf = (batch: readonly Call[]): NewJob[] => batch.flatMap((call) => call.jobs)

function halvesOf(batch: readonly Call[]): [readonly Call[], readonly Call[]] {
  const middle = Math.ceil(batch.length / 2)
  return [batch.slice(0, middle), batch.slice(middle)]
}

/** Returns a function that adds a call. */
export function batcher(options: BatcherOptions): (call: Call) => void {
  const { onAnswered, identities } = options
  const waiting: Call[] = []
  let inFlight = 0
  let scheduled = false

  /**
   * Takes as many waiting calls as fit, in order. A call that clashes with an earlier one waits for the next
   * write.
   */
  function nextBatch(): Call[] {
    const batch: Call[] = []
    const taken = new Set<string>()
    let items = 0
    let bytes = 0
    for (const call of waiting) {
      const fits = items + call.jobs.length <= MOST_ITEMS && bytes + call.bytes <= MOST_BYTES
      const own = identities === undefined ? NONE : call.jobs.flatMap((job) => identities(job))
      if (batch.length > 0 && (!fits || own.some((one) => taken.has(one)))) break
      batch.push(call)
      for (const one of own) taken.add(one)
      items += call.jobs.length
      bytes += call.bytes
    }
    waiting.splice(0, batch.length)
    return batch
  }

  async function write(batch: readonly Call[]): Promise<void> {
    let left = batch
    const narrow = async (error: unknown): Promise<void> => {
      if (left.length > 1 && isRefusal(error)) left = await writeOthers(left)
    }
    try {
      const replies = await sendUntilKnown(options.send, () => jobsOf(left), { ...options, narrow })
      resolve(left, replies)
    } catch (error) {
      await reject(left, error)
    }
  }

  function resolve(batch: readonly Call[], replies: readonly Enqueued[]): void {
    let at = 0
    for (const call of batch) {
      onAnswered(call)
      call.resolve(replies.slice(at, (at += call.jobs.length)))
    }
  }

  /**
   * The server keeps refusing these calls, with an error that does not say whether a write was committed. One
   * call may be the cause, so halves are sent once each, down to single calls. Returns the calls that are
   * still refused. If all are, the server is the cause, and the search ends early.
   */
  async function writeOthers(batch: readonly Call[]): Promise<readonly Call[]> {
    let refusals = 0
    const search = async (part: readonly Call[]): Promise<readonly Call[]> => {
      if (refusals >= MOST_REFUSALS) return part
      try {
        resolve(part, await options.send(jobsOf(part), { mayRepeat: true }))
        return []
      } catch (error) {
        refusals = isRefusal(error) ? refusals + 1 : MOST_REFUSALS
        return part.length === 1 ? part : inHalves(part)
      }
    }
    const inHalves = async (part: readonly Call[]): Promise<readonly Call[]> => {
      const [first, second] = halvesOf(part)
      return [...(await search(first)), ...(await search(second))]
    }
    return inHalves(batch)
  }

  /**
   * If one call may be the cause, the batch is split in halves until that call is isolated, so that the other
   * calls succeed. Any other error rejects every call of the batch. So does an unknown outcome: `writeOthers`
   * has already looked for the cause.
   */
  async function reject(batch: readonly Call[], error: unknown): Promise<void> {
    const isUnknown = isJobmillError(error) && error.code === 'OUTCOME_UNKNOWN'
    if (batch.length === 1 || isUnknown || !isRefusal(error)) {
      for (const call of batch) {
        onAnswered(call)
        call.reject(error)
      }
      return
    }
    for (const half of halvesOf(batch)) await write(half)
  }

  function pump(): void {
    while (inFlight < options.width && waiting.length > 0) {
      inFlight += 1
      void write(nextBatch()).finally(() => {
        inFlight -= 1
        schedule()
      })
    }
  }

  /**
   * Defers the pump by one microtask. Callers resolved by one write often call again at once, so their calls
   * queue up as microtasks and can share the next write. Waiting a full event loop turn would only delay an
   * idle call.
   */
  function schedule(): void {
    if (scheduled || waiting.length === 0 || inFlight >= options.width) return
    scheduled = true
    void Promise.resolve().then(() => {
      scheduled = false
      pump()
    })
  }

  return (call) => {
    waiting.push(call)
    schedule()
  }
}

export type Send = (jobs: readonly NewJob[], options: { readonly mayRepeat: boolean }) => Promise<Enqueued[]>

/**
 * Pauses between sends of a write whose outcome is unknown. After the last one, the caller gets the error.
 */
const RESEND_AFTER_MS = [0, 50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800]

/** After this many sends, 1.5 s after the first, `narrow` is called once. */
const NARROW_AFTER_SENDS = 7

interface Resend {
  readonly mayRepeat: boolean
  readonly platform: Platform
  /** May reduce the jobs to those that the database keeps refusing. `error` is that of the last send. */
  readonly narrow: (error: unknown) => Promise<void>
}

/** Resolves with the replies for the jobs that are left. */
async function sendUntilKnown(
  send: Send,
  jobs: () => readonly NewJob[],
  { mayRepeat, platform, narrow }: Resend,
): Promise<Enqueued[]> {
  let unknown: JobmillError | undefined
  for (let sends = 1; ; sends += 1) {
    try {
      return await send(jobs(), { mayRepeat: mayRepeat || unknown !== undefined })
    } catch (error) {
      if (isJobmillError(error) && error.code === 'OUTCOME_UNKNOWN') unknown = error
      // After one unknown outcome, a later refusal does not show whether the first write committed. Retryable
      // errors are retried; any other error is reported as OUTCOME_UNKNOWN.
      else if (unknown === undefined) throw error
      else if (!isJobmillError(error) || !error.retryable) throw unknown
      if (sends === NARROW_AFTER_SENDS) await narrow(error)
    }
    if (jobs().length === 0) return []
    const waitMs = RESEND_AFTER_MS[sends - 1]
    if (waitMs === undefined) throw unknown
    await sleep(platform, waitMs)
  }
}
