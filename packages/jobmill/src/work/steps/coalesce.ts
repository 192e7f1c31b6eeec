/**
 * Sends the items of one event-loop turn, of all attempts, in one call. One call is in flight at a time, and
 * it is repeated until the database answers: the calls are idempotent, and the lease token fences them.
 */
import type { Trouble } from '../../job/attempt/trouble.ts'
import { isDataError, isJobmillError } from '../../job/errors.ts'
import { pauses } from '../../platform/pauses.ts'
import type { Platform } from '../../platform/platform.ts'
import type { Attempt } from '../attempt.ts'
import { endedAfterComplete } from './step-errors.ts'

const MOST_ITEMS = 500
const MOST_CHARS = 4 * 1024 * 1024

interface Waiting<Item, Reply> {
  readonly item: Item
  readonly attempt: Attempt
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: unknown) => void
}

interface CoalesceOptions<Item, Reply> extends Trouble {
  readonly send: (items: readonly Item[]) => Promise<Reply[]>
  readonly platform: Platform
  readonly charsOf: (item: Item) => number
}

/** Rejects with an error of the database about the item, or with why the attempt ended. */
export type Coalesced<Item, Reply> = (item: Item, attempt: Attempt) => Promise<Reply>

export function coalesce<Item extends { readonly id: string; readonly name: string }, Reply>({
  send,
  platform,
  charsOf,
  failing,
  working,
}: CoalesceOptions<Item, Reply>): Coalesced<Item, Reply> {
  let waiting: Waiting<Item, Reply>[] = []
  let isSending = false

  /** Takes the next items, each step once. */
  function take(): Waiting<Item, Reply>[] {
    const batch: Waiting<Item, Reply>[] = []
    const taken = new Set<string>()
    let chars = 0
    for (const one of waiting) {
      const key = `${one.item.id} ${one.item.name}`
      chars += charsOf(one.item)
      if (batch.length === MOST_ITEMS || (batch.length > 0 && chars > MOST_CHARS) || taken.has(key)) break
      taken.add(key)
      batch.push(one)
    }
    waiting = waiting.slice(batch.length)
    return batch
  }

  async function sendAll(batch: readonly Waiting<Item, Reply>[]): Promise<void> {
    const pause = pauses(platform, { firstMs: 50, longestMs: 2_000 })
    let left = notCompleted(batch)
    while (left.length > 0) {
      try {
        const replies = await send(left.map(({ item }) => item))
        working()
        left.forEach(({ resolve }, at) => resolve(replies[at] as Reply))
        return
      } catch (error) {
        if (isDataError(error) || isClosed(error)) return apart(left, error)
        failing(error)
        await pause.wait()
      }
      left = stillRunning(left)
    }
  }

  /** One of the items is refused. Sends each on its own, so that the others succeed. */
  async function apart(batch: readonly Waiting<Item, Reply>[], error: unknown): Promise<void> {
    if (batch.length === 1) return batch[0]?.reject(error)
    for (const one of batch) await sendAll([one])
  }

  /** Handlers that one call resumes mostly call their next step in the same turn. */
  const turn = (): Promise<void> => new Promise((resolve) => platform.nextTurn(resolve))

  async function pump(): Promise<void> {
    await turn()
    while (waiting.length > 0) {
      await sendAll(take())
      await turn()
    }
    isSending = false
  }

  return (item, attempt) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, attempt, resolve, reject })
      if (isSending) return
      isSending = true
      void pump()
    })
}

/**
 * Rejects the items of attempts that were completed in a transaction, which may stay open. The write would
 * wait for its end, and the steps of all other attempts with it.
 */
function notCompleted<Item extends { readonly name: string }, Reply>(
  batch: readonly Waiting<Item, Reply>[],
): readonly Waiting<Item, Reply>[] {
  return batch.filter(({ attempt, item, reject }) => {
    if (!attempt.completedInTx) return true
    reject(endedAfterComplete(item.name))
    return false
  })
}

/** Rejects the items of attempts that were asked to stop, because their handlers wait for this write. */
function stillRunning<Item, Reply>(batch: readonly Waiting<Item, Reply>[]): Waiting<Item, Reply>[] {
  return batch.filter(({ attempt, reject }) => {
    if (attempt.interruption === null) return true
    reject(attempt.interruption)
    return false
  })
}

function isClosed(error: unknown): boolean {
  return isJobmillError(error) && error.code === 'STORE_CLOSED'
}
