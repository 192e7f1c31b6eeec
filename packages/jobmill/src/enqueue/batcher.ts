/**
 * One lane of enqueues: calls that are made together share a write, and so do those that arrive while writes are on their way. Nothing
 * waits for a timer: when the lane is free a call is sent at once, and under load the batches grow by themselves.
 */
import { isJobmillError } from '../job/errors.ts'
import type { NewJob } from '../job/new-job.ts'
import type { Platform } from '../platform/platform.ts'
import type { Enqueued } from '../store/replies.ts'
import { sendUntilKnown, type Send } from './send-until-known.ts'

const MOST_ITEMS = 1_000
const MOST_BYTES = 4 * 1024 * 1024

/** One call of a user: all of its jobs are written, or none. */
export interface Call {
  readonly jobs: readonly NewJob[]
  readonly bytes: number
  resolve(replies: Enqueued[]): void
  reject(error: unknown): void
}

export interface BatcherOptions {
  readonly send: Send
  readonly platform: Platform
  /** How many writes may be on their way at once. */
  readonly width: number
  /** Two jobs that share one of these cannot stand in one write: a given id, or a dedupe key. Left out where no job has any. */
  readonly identities?: (job: NewJob) => readonly string[]
  /** Whether ids in this lane may exist already. */
  readonly mayRepeat: boolean
  /** A call is about to be answered, one way or the other. */
  readonly answered: (call: Call) => void
}

export interface Batcher {
  add(call: Call): void
}

const NONE: readonly string[] = []

export function batcher(options: BatcherOptions): Batcher {
  const { answered, identities } = options
  const waiting: Call[] = []
  let onTheirWay = 0
  let scheduled = false

  /** As many waiting calls as fit, in their order. One that clashes with a call before it waits for the next write. */
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
    try {
      const jobs = batch.flatMap((call) => call.jobs)
      const replies = await sendUntilKnown(options.send, jobs, options.mayRepeat, options.platform)
      let at = 0
      for (const call of batch) {
        answered(call)
        call.resolve(replies.slice(at, (at += call.jobs.length)))
      }
    } catch (error) {
      await refused(batch, error)
    }
  }

  /** Trouble with the database is everybody's. An error in the data is one call's: halves find out whose, and spare the others. */
  async function refused(batch: readonly Call[], error: unknown): Promise<void> {
    if (batch.length === 1 || (isJobmillError(error) && error.retryable)) {
      for (const call of batch) {
        answered(call)
        call.reject(error)
      }
      return
    }
    const middle = Math.ceil(batch.length / 2)
    await write(batch.slice(0, middle))
    await write(batch.slice(middle))
  }

  function pump(): void {
    while (onTheirWay < options.width && waiting.length > 0) {
      onTheirWay += 1
      void write(nextBatch()).finally(() => {
        onTheirWay -= 1
        schedule()
      })
    }
  }

  /**
   * After those that are about to call: whoever was answered by one write often calls again at once, all of them in step, so that they are behind one
   * another in the queue of microtasks and can share the next. A turn of the event loop would be no better, and cost an idle call its time.
   */
  function schedule(): void {
    if (scheduled || waiting.length === 0 || onTheirWay >= options.width) return
    scheduled = true
    void Promise.resolve().then(() => {
      scheduled = false
      pump()
    })
  }

  return {
    add(call) {
      waiting.push(call)
      schedule()
    },
  }
}
