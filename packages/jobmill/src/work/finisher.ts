/**
 * Writes outcomes, many in one statement: those of one turn of the event loop share a write, and so do those that arrive while one is on its way. A write that fails for a while is
 * made again until the database answers; the fence decides whether it still counts.
 */
import { isJobmillError } from '../job/errors.ts'
import { errorText } from '../job/error-text.ts'
import { pauses } from '../platform/pauses.ts'
import type { Platform } from '../platform/platform.ts'
import type { Finish, Finished } from '../store/finish.ts'

const MOST_PER_WRITE = 500

interface Waiting {
  item: Finish
  readonly done: (finished: Finished | null) => void
}

export interface Finisher {
  /** Null when it was given up: after `giveUp`, when the store is closed, or when the database refuses even the plainest form. */
  readonly add: (item: Finish) => Promise<Finished | null>
  /** The same without a promise, for what every job comes by. `done` must not throw. */
  readonly put: (item: Finish, done: (finished: Finished | null) => void) => void
  /** Ends the tries of whatever could not be written. */
  readonly giveUp: () => void
  /** Resolves when nothing waits to be written. */
  readonly idle: () => Promise<void>
}

export interface FinisherOptions {
  readonly finish: (items: readonly Finish[]) => Promise<Finished[]>
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
  const { finish, platform, failing, working, perWrite = MOST_PER_WRITE, width = 1 } = options
  const { wrote = () => {} } = options
  const queue: Waiting[] = []
  const given = new AbortController()
  const pumping = new Set<Promise<void>>()

  function tell(batch: readonly Waiting[], replies: readonly Finished[]): void {
    batch.forEach(({ done }, at) => done(replies[at] ?? null))
    wrote()
  }

  async function write(batch: readonly Waiting[]): Promise<void> {
    const pause = pauses(platform, { firstMs: 50, longestMs: 2_000 })
    for (;;) {
      try {
        const replies = await finish(batch.map(({ item }) => item))
        working()
        return tell(batch, replies)
      } catch (error) {
        if (isClosed(error) || given.signal.aborted) return tell(batch, [])
        if (!passes(error)) return refused(batch, error)
        failing(error)
        await pause.wait(given.signal)
      }
    }
  }

  /** An item that the database will never take must not stop its neighbours: halves find it, and then it is written as plainly as can be. */
  async function refused(batch: readonly Waiting[], error: unknown): Promise<void> {
    if (batch.length > 1) {
      const middle = Math.ceil(batch.length / 2)
      await write(batch.slice(0, middle))
      await write(batch.slice(middle))
      return
    }
    const [only] = batch
    if (only === undefined) return
    const plain = plainly(only.item, error)
    if (plain === null) {
      failing(error)
      return tell(batch, [])
    }
    only.item = plain
    await write([only])
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

  function put(item: Finish, done: Waiting['done']): void {
    queue.push({ item, done })
    start()
  }

  return {
    put,
    add: (item) => new Promise((resolve) => put(item, resolve)),
    giveUp: () => given.abort(),
    idle: async () => {
      while (pumping.size > 0) await Promise.all(pumping)
    },
  }
}

/** The same move without anything a database could object to; null when it is that already. */
function plainly(item: Finish, error: unknown): Finish | null {
  const { id, token, transition, outcome } = item
  const carries = item.followUps !== undefined || item.log !== undefined || item.cool !== undefined
  const result = transition.to === 'done' && transition.result !== null
  if (!carries && !result && item.ranMs === undefined) return null
  const why = `could not be written as it was: ${errorText(error)}`
  // Follow-ups that cannot be written were part of the completion, so it did not happen.
  const lost = item.followUps !== undefined && transition.to === 'done'
  if (lost) return { id, token, outcome: 'gave-up', transition: { to: 'dead' }, error: why }
  return {
    id,
    token,
    outcome,
    transition: transition.to === 'done' ? { to: 'done', result: null } : transition,
    error: item.error ?? why,
  }
}

function isClosed(error: unknown): boolean {
  return isJobmillError(error) && error.code === 'STORE_CLOSED'
}

/** Trouble with the database passes, a full disk or a lost right included; an error in the data never does. */
function passes(error: unknown): boolean {
  return isJobmillError(error) && (error.retryable || error.code.startsWith('STORE_'))
}
