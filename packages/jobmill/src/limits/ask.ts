/**
 * Sends acquire and release requests in shared statements, and resends a request whose answer was lost. A
 * lost answer never counts as a grant: its tokens are wasted.
 */
import { isJobmillError } from '../job/errors.ts'
import { noReply } from '../job/no-reply.ts'
import { orAborted } from '../platform/or-aborted.ts'
import { pauses } from '../platform/pauses.ts'
import type { Platform } from '../platform/platform.ts'
import type { FullStore } from '../store/store.ts'
import type { Acquired, AcquireRequest, PermitOf } from '../store/types/limit.ts'

type LimitStore = Pick<FullStore, 'limits'>

export interface AskTools {
  /** Returns the store, and opens it first if necessary. */
  readonly opened: () => Promise<LimitStore>
  readonly platform: Platform
}

export interface Asked {
  readonly acquired: Acquired
  /** From sending the request until the answer arrived. */
  readonly tookMs: number
}

export interface AskOptions {
  readonly signal: AbortSignal
  /** Whether everything that this holder has of this limit may be released, because no code relies on it. */
  readonly mayRelease: () => boolean
}

export type Asks = ReturnType<typeof asks>

const MOST_TIMES = 10
const PAUSES = { firstMs: 50, longestMs: 5_000 }

export function asks({ opened, platform }: AskTools) {
  const acquire = batcher<AcquireRequest, Asked>(async (items) => {
    const store = await opened()
    const sentAt = platform.monotonic()
    const replies = await store.limits.acquire(items)
    const tookMs = platform.monotonic() - sentAt
    return replies.map((acquired) => ({ acquired, tookMs }))
  })
  const back = batcher<PermitOf, boolean>(async (items) => (await opened()).limits.release(items))

  /** Resolves when nothing is held any more, or when that cannot be determined. */
  async function release({ limit, holder, token }: PermitOf): Promise<void> {
    const pause = pauses(platform, PAUSES)
    for (let times = 1; times <= MOST_TIMES; times += 1) {
      try {
        await back({ limit, holder, token })
        return
      } catch (error) {
        // The rest is released with its job or its instance; after a stop, it already has been.
        if (!isJobmillError(error) || !error.retryable) return
      }
      await pause.wait()
    }
  }

  return {
    release,
    ask: async (item: AcquireRequest, { signal, mayRelease }: AskOptions): Promise<Asked> => {
      const pause = pauses(platform, PAUSES)
      for (let times = 1; ; times += 1) {
        const asked = acquire(item)
        try {
          return await orAborted(asked, signal)
        } catch (error) {
          if (signal.aborted) void releaseUnwanted(asked, () => mayRelease() && release(item))
          signal.throwIfAborted()
          const isUnknown = isJobmillError(error) && error.code === 'OUTCOME_UNKNOWN'
          if (!isUnknown || times === MOST_TIMES) throw error
        }
        await pause.wait(signal)
        signal.throwIfAborted()
        // A permit that was granted after all would block this request itself.
        if (mayRelease()) await release(item)
      }
    },
  }
}

/** Releases a grant whose requester no longer waits. */
async function releaseUnwanted(asked: Promise<Asked>, release: () => unknown): Promise<void> {
  const { acquired } = await asked.catch(() => ({ acquired: null }))
  if (acquired?.outcome === 'granted') release()
}

const MOST_ITEMS = 500

interface Call<Item, Reply> {
  readonly item: Item
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: unknown) => void
}

/** `send` returns one reply per item, in order. */
export function batcher<Item, Reply>(
  send: (items: readonly Item[]) => Promise<readonly Reply[]>,
): (item: Item) => Promise<Reply> {
  const waiting: Call<Item, Reply>[] = []
  let isSending = false

  async function write(batch: readonly Call<Item, Reply>[]): Promise<void> {
    try {
      const replies = await send(batch.map(({ item }) => item))
      batch.forEach(({ resolve, reject }, at) => {
        const reply = replies[at]
        if (reply === undefined) reject(noReply())
        else resolve(reply)
      })
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  function pump(): void {
    if (isSending || waiting.length === 0) return
    isSending = true
    void write(waiting.splice(0, MOST_ITEMS)).finally(() => {
      isSending = false
      pump()
    })
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      pump()
    })
}
