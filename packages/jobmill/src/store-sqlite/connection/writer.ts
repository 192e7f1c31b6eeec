/**
 * Group commit: operations of one turn of the event loop share a transaction, with one lock and one sync to
 * disk. Promises settle after the commit.
 * Another process may hold the write lock. Waiting inside a call would block the event loop, so the writer
 * retries from a timer until the deadline of the operation.
 */
import { JobmillError } from '../../job/errors.ts'
import type { Timer } from '../../platform/platform.ts'
import { type BatchOptions, type Result, runBatch } from './batch.ts'
import type { Patience } from './retry.ts'
import type { Notification, Verb } from '../work.ts'

export type Writer = ReturnType<typeof createWriter>

interface WriterOptions extends BatchOptions, Patience {
  /** Called after the commit with the notifications of queues that got work. */
  readonly onCommit: (notifications: readonly Notification[]) => void
}

interface Item {
  readonly weight: number
  readonly since: number
  readonly verb: Verb
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Rows per transaction, so that a long queue does not block the event loop for long. */
const MOST_WEIGHT = 1_000

/** Short, because the lock has no queue: a process that tries more often gets it sooner. */
const RETRY_MS = 4

export function createWriter(options: WriterOptions) {
  const { platform, busyDeadlineMs: deadlineMs } = options
  let queue: Item[] = []
  let scheduled = false
  let closed: (() => Error) | undefined
  let retry: Timer | undefined

  function schedule(): void {
    if (scheduled || closed !== undefined || queue.length === 0) return
    scheduled = true
    platform.nextTurn(flush)
  }

  function flush(): void {
    scheduled = false
    if (closed !== undefined || queue.length === 0) return
    if (commitSome() !== 'busy') return schedule()
    dropOverdue()
    if (queue.length === 0) return
    scheduled = true
    retry = platform.timer(1 + platform.random() * RETRY_MS, flush)
  }

  function commitSome(): 'busy' | 'done' {
    const batch = takeBatch(queue)
    const done = runBatch(
      options,
      batch.map(({ verb }) => verb),
    )
    if (done === 'busy') {
      queue = [...batch, ...queue]
      return 'busy'
    }
    queue = [...batch.filter((_, at) => done.results[at]?.is === 'again'), ...queue]
    if (done.notifications.length > 0) options.onCommit(done.notifications)
    for (const [at, item] of batch.entries()) settle(item, done.results[at])
    return 'done'
  }

  function dropOverdue(): void {
    const now = platform.monotonic()
    const overdue = queue.filter(({ since }) => now - since >= deadlineMs)
    queue = queue.filter(({ since }) => now - since < deadlineMs)
    for (const item of overdue) {
      const what = `another connection held the write lock for ${deadlineMs} ms`
      const fix = 'Check for an open transaction in a program that uses the same file'
      item.reject(new JobmillError('STORE_BUSY', what, { fix }))
    }
  }

  return {
    /** True when nothing is queued: a read then sees all writes. */
    get idle(): boolean {
      return queue.length === 0
    },
    /**
     * `weight` is roughly how many rows the operation writes. It may run again if its transaction was lost.
     */
    write<T>(weight: number, verb: Verb<T>): Promise<T> {
      if (closed !== undefined) return Promise.reject(closed())
      return new Promise<T>((resolve, reject) => {
        queue.push({ weight, since: platform.monotonic(), verb, resolve: resolve as Item['resolve'], reject })
        schedule()
      })
    },
    /**
     * Writes the queued operations if possible; rejects the rest, and every later write, with this reason.
     */
    close(reason: () => Error): void {
      while (queue.length > 0 && commitSome() === 'done');
      closed = reason
      retry?.cancel()
      for (const item of queue.splice(0)) item.reject(reason())
    },
  }
}

/** Takes from the front of the queue what fits in one transaction; at least one. */
function takeBatch(queue: Item[]): Item[] {
  let weight = 0
  const end = queue.findIndex((item, at) => {
    weight += item.weight
    return at > 0 && weight > MOST_WEIGHT
  })
  return queue.splice(0, end === -1 ? queue.length : end)
}

function settle(item: Item, result: Result | undefined): void {
  if (result?.is === 'committed') item.resolve(result.value)
  else if (result?.is === 'failed') item.reject(result.error)
}
