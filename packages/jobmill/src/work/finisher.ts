/**
 * Writes outcomes, many in one statement: those of one turn of the event loop share a write, and so do those that arrive while one is on its way. A write that fails is
 * made again until the database answers, whatever it says; the fence decides whether it still counts. Items that fail by themselves are judged in finish-alone.ts.
 */
import { isDataError, isJobmillError } from '../job/errors.ts'
import { type Pauses, pauses } from '../platform/pauses.ts'
import type { Platform } from '../platform/platform.ts'
import type { Held } from '../store/claim.ts'
import type { Finish, Finished } from '../store/finish.ts'
import { finishAlone, type Waiting, type Watch } from './finish-alone.ts'
import type { AsFailed } from './plainer.ts'

const MOST_PER_WRITE = 500
/** After so many failures in a row its halves are written apart. */
const TRIES_TOGETHER = 3

export interface Finisher {
  /** Null when it was given up: after `giveUp`, or when the store is closed. */
  readonly add: (item: Finish) => Promise<Finished | null>
  /** The same without a promise, for what every job comes by. `done` must not throw. `asFailed`: see plainer.ts. */
  readonly put: (item: Finish, done: Waiting['done'], asFailed?: AsFailed) => void
  /** Ends the tries of whatever could not be written. */
  readonly giveUp: () => void
  /** Resolves when nothing waits to be written. */
  readonly idle: () => Promise<void>
}

export interface FinisherOptions {
  readonly finish: (items: readonly Finish[]) => Promise<Finished[]>
  /** What this instance runs, as the database has it: asked for only after outcomes were refused again and again. */
  readonly held: () => Promise<readonly Held[]>
  readonly platform: Platform
  /** How many items one write may have (default 500), and how many writes may be on their way at once (default 1). */
  readonly perWrite?: number
  readonly width?: number
  /** Whoever waited for some of them has heard (default: nobody wants to know). */
  readonly wrote?: () => void
  readonly failing: (error: unknown) => void
  readonly working: () => void
}

export function finisher(options: FinisherOptions): Finisher {
  const { finish, held, platform, failing, working, perWrite = MOST_PER_WRITE, width = 1 } = options
  const { wrote = () => {} } = options
  const queue: Waiting[] = []
  const given = new AbortController()
  const pumping = new Set<Promise<void>>()
  const alone = finishAlone({ attempt, held, platform, signal: given.signal, failing })

  function tell(batch: readonly Waiting[], replies: readonly Finished[]): void {
    batch.forEach(({ done, item }, at) => done(replies[at] ?? null, item))
    wrote()
  }

  /** One try. Undefined when nothing is left to do: it was written, or will never be. */
  async function attempt(batch: readonly Waiting[]): Promise<unknown> {
    try {
      const replies = await finish(batch.map(({ item }) => item))
      working()
      alone.wrote(batch, replies)
      tell(batch, replies)
    } catch (error) {
      if (!isClosed(error) && !given.signal.aborted) return error ?? new Error('the store failed')
      tell(batch, [])
    }
    return undefined
  }

  async function write(batch: readonly Waiting[]): Promise<void> {
    const pause = pauses(platform, { firstMs: 50, longestMs: 2_000 })
    const error = await fails(batch, pause)
    if (error === undefined) return
    const watch = alone.watch(error)
    await writeAgain(batch, { error, pause, watch })
    watch.end()
  }

  async function writeAgain(refused: readonly Waiting[], { error, pause, watch }: Refused): Promise<void> {
    let batch = refused
    let failure = error
    for (let tries = 1; failure !== undefined; tries += 1, failure = await fails(batch, pause)) {
      const isData = isDataError(failure)
      // Those that are written one by one make nobody wait.
      if (!isData && (tries % TRIES_TOGETHER !== 0 || perWrite === 1)) continue
      const left = await apart(batch, pause)
      const isNoneWritten = !isData && left.length === batch.length && batch.length > 1
      // Nothing got through: the database is in trouble, and no item is at fault. The next time others come first.
      if (isNoneWritten && !(await isNextWritten(pause))) {
        batch = [...batch.slice(1), ...batch.slice(0, 1)]
        continue
      }
      for (const one of left) watch.add(one)
      return
    }
  }

  /** One try; the error when it fails. After trouble that may pass there is a pause; after an error in the data none, because its neighbours can be written at once. */
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

  /** Whether an outcome that came later is written. Then the database works, and those before it must not hold up the rest. */
  async function isNextWritten(pause: Pauses): Promise<boolean> {
    const next = queue.shift()
    if (next === undefined) return false
    if ((await fails([next], pause)) === undefined) return true
    queue.push(next)
    return false
  }

  /** Writes the halves apart, so that one item does not stop its neighbours. Returns those that still fail: all of them when nothing got through. */
  async function apart(batch: readonly Waiting[], pause: Pauses): Promise<readonly Waiting[]> {
    if (batch.length === 1) return batch
    const [first, second] = halves(batch)
    const isFirstLeft = (await fails(first, pause)) !== undefined
    const isSecondLeft = (await fails(second, pause)) !== undefined
    if (!isFirstLeft) return isSecondLeft ? apart(second, pause) : []
    const left = await apart(first, pause)
    if (!isSecondLeft) return left
    // One way down is enough to see that nothing gets through.
    if (left.length === first.length) return batch
    return (await fails(second, pause)) === undefined ? left : [...left, ...(await apart(second, pause))]
  }

  /** Jobs that begin together mostly end together, a moment after the first of them. */
  const turn = (): Promise<void> => new Promise((resolve) => platform.nextTurn(resolve))

  async function pump(): Promise<void> {
    await turn()
    while (queue.length > 0) {
      await write(queue.splice(0, perWrite))
      await turn()
    }
  }

  function start(): void {
    if (pumping.size >= width) return
    const one: Promise<void> = pump().finally(() => {
      pumping.delete(one)
      // Added after the pump looked for the last time, and before it was gone.
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

/** A batch whose first write failed. */
interface Refused {
  readonly error: unknown
  readonly pause: Pauses
  readonly watch: Watch
}

function halves<T>(list: readonly T[]): [readonly T[], readonly T[]] {
  const middle = Math.ceil(list.length / 2)
  return [list.slice(0, middle), list.slice(middle)]
}

function isClosed(error: unknown): boolean {
  return isJobmillError(error) && error.code === 'STORE_CLOSED'
}
