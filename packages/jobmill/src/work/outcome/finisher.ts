/**
 * Writes outcomes in batches: those of one event-loop turn, and those that arrive during a write, share a
 * statement. A failed write is retried until the database answers; the lease token decides whether it still
 * counts. finish-alone.ts handles items that keep failing on their own.
 */
import type { Trouble } from '../../job/attempt/trouble.ts'
import { isDataError, isJobmillError } from '../../job/errors.ts'
import { type Pauses, pauses } from '../../platform/pauses.ts'
import type { Platform } from '../../platform/platform.ts'
import type { Finish, Finished } from '../../store/types/finish.ts'
import { finishAlone, type Waiting } from './finish-alone.ts'
import type { AsFailed } from './plainer.ts'

const MOST_PER_WRITE = 500
/**
 * The maximum size of a write, and of the writes of one event-loop turn, because sending them blocks the
 * event loop.
 */
const MOST_CHARS = 4 * 1024 * 1024
/** After this many failures in a row the halves of a batch are written separately. */
const TRIES_TOGETHER = 3

export interface Finisher {
  /** Null when it was abandoned: after `giveUp`, or when the store is closed. */
  readonly add: (item: Finish) => Promise<Finished | null>
  /** The same without a promise, for the hot path. `done` must not throw. For `asFailed`, see plainer.ts. */
  readonly put: (item: Finish, done: Waiting['done'], asFailed?: AsFailed) => void
  /** Ends the retries of everything that could not be written. */
  readonly giveUp: () => void
  /** Resolves when no outcome waits to be written. */
  readonly idle: () => Promise<void>
}

export interface FinisherOptions extends Trouble {
  readonly finish: (items: readonly Finish[], options?: { readonly rehearse: boolean }) => Promise<Finished[]>
  readonly platform: Platform
  /** The maximum number of items per write (default 500), and of concurrent writes (default 1). */
  readonly perWrite?: number
  readonly width?: number
}

export function finisher(options: FinisherOptions): Finisher {
  const { finish, platform, failing, working, perWrite = MOST_PER_WRITE, width = 1 } = options
  const queue: Waiting[] = []
  /**
   * Characters written since the count was last reset, which happens in the turn after it reaches MOST_CHARS.
   */
  let chars = 0
  const given = new AbortController()
  const pumping = new Set<Promise<void>>()
  const rehearse = (items: readonly Finish[]): Promise<Finished[]> => finish(items, { rehearse: true })
  const alone = finishAlone({ attempt, rehearse, platform, signal: given.signal, failing })

  /** One try. Undefined when nothing is left to do: it was written, or never will be. */
  async function attempt(batch: readonly Waiting[]): Promise<unknown> {
    try {
      const replies = await finish(batch.map(({ item }) => item))
      working()
      settle(batch, replies)
    } catch (error) {
      if (!isClosed(error) && !given.signal.aborted) return error ?? new Error('the store failed')
      settle(batch, [])
    }
    return undefined
  }

  async function write(items: readonly Waiting[]): Promise<void> {
    const pause = pauses(platform, { firstMs: 50, longestMs: 2_000 })
    let batch = items
    let failure = await fails(batch, pause)
    for (let tries = 1; failure !== undefined; tries += 1, failure = await fails(batch, pause)) {
      const isData = isDataError(failure)
      // With one item per write, a failing item delays no other.
      if (!isData && (tries % TRIES_TOGETHER !== 0 || perWrite === 1)) continue
      const left = await apart(batch, pause)
      const isNoneWritten = !isData && left.length === batch.length && batch.length > 1
      // No item was written, so the database is failing. Rotate the batch so that another item is tried
      // first.
      if (isNoneWritten && !(await isNextWritten(pause))) {
        batch = [...batch.slice(1), ...batch.slice(0, 1)]
        continue
      }
      for (const one of left) alone.add(one)
      return
    }
  }

  /**
   * One try. Returns the error if it fails. A transient error is followed by a pause; a data error is not,
   * because the other items can be written at once.
   */
  async function fails(batch: readonly Waiting[], pause: Pauses): Promise<unknown> {
    const error = await attempt(batch)
    if (error === undefined) {
      pause.reset()
      return undefined
    }
    failing(error)
    if (!isDataError(error)) await pause.wait(given.signal)
    return error
  }

  /**
   * Whether a later outcome can be written. If so, the database works, and the items before it must not delay
   * the rest.
   */
  async function isNextWritten(pause: Pauses): Promise<boolean> {
    const next = queue.shift()
    if (next === undefined) return false
    if ((await fails([next], pause)) === undefined) return true
    queue.push(next)
    return false
  }

  /**
   * Writes the halves separately, so that one item does not block the others. Returns the items that still
   * fail, or all if none was written.
   */
  async function apart(batch: readonly Waiting[], pause: Pauses): Promise<readonly Waiting[]> {
    if (batch.length === 1) return batch
    const [first, second] = halves(batch)
    const isFirstLeft = (await fails(first, pause)) !== undefined
    const isSecondLeft = (await fails(second, pause)) !== undefined
    if (!isFirstLeft) return isSecondLeft ? apart(second, pause) : []
    const left = await apart(first, pause)
    if (!isSecondLeft) return left
    // If no item of the first half can be written, the second half need not be split.
    if (left.length === first.length) return batch
    return (await fails(second, pause)) === undefined ? left : [...left, ...(await apart(second, pause))]
  }

  /** Waits one event-loop turn: jobs that start together mostly end together, a moment after the first. */
  const turn = (): Promise<void> => new Promise((resolve) => platform.nextTurn(resolve))

  /** Removes the items of the next write from the queue. One item is taken whatever its size. */
  function take(): Waiting[] {
    let [count, size] = [0, 0]
    for (const { item } of queue) {
      const own = charsOf(item)
      if (count >= perWrite || (count > 0 && size + own > MOST_CHARS)) break
      count += 1
      size += own
    }
    chars += size
    if (chars >= MOST_CHARS) platform.nextTurn(() => (chars = 0))
    return queue.splice(0, count)
  }

  async function pump(): Promise<void> {
    await turn()
    while (queue.length > 0) {
      if (chars < MOST_CHARS) await write(take())
      await turn()
    }
  }

  function start(): void {
    if (pumping.size >= width) return
    const one: Promise<void> = pump().finally(() => {
      pumping.delete(one)
      // Items were added after the last check of the pump and before it ended.
      if (queue.length > 0) start()
    })
    pumping.add(one)
  }

  function put(item: Finish, done: Waiting['done'], asFailed?: AsFailed): void {
    queue.push({ item, done, asFailed })
    start()
  }

  return {
    put,
    add: (item) => new Promise((resolve) => put(item, resolve)),
    giveUp: () => given.abort(),
    idle: async () => {
      while (pumping.size > 0 || !alone.isIdle) await Promise.all([...pumping, alone.idle])
    },
  }
}

function halves<T>(list: readonly T[]): [readonly T[], readonly T[]] {
  const middle = Math.ceil(list.length / 2)
  return [list.slice(0, middle), list.slice(middle)]
}

/** The size of the parts that handlers choose, without the cost of counting bytes. */
function charsOf({ transition, log, followUps }: Finish): number {
  const result = transition.to === 'done' ? (transition.result?.length ?? 0) : 0
  const rest = followUps?.reduce((sum, { payload }) => sum + payload.length, 0) ?? 0
  return result + (log?.length ?? 0) + rest
}

function isClosed(error: unknown): boolean {
  return isJobmillError(error) && error.code === 'STORE_CLOSED'
}

function settle(batch: readonly Waiting[], replies: readonly Finished[]): void {
  batch.forEach(({ done, item }, at) => done(replies[at] ?? null, item))
}
