/**
 * Questions to limits: shared statements, asked again until an answer arrives. An answer that was lost is never taken for a grant: what it granted is lost,
 * and the question is asked anew.
 */
import { isJobmillError } from '../job/errors.ts'
import { pauses } from '../platform/pauses.ts'
import type { Platform } from '../platform/platform.ts'
import type { PermitOf, Take, Taken } from '../store/limit.ts'
import type { Store } from '../store/store.ts'
import { batcher } from './batcher.ts'

type LimitStore = Pick<Store, 'take' | 'giveBack' | 'drain' | 'limits'>

export interface AskTools {
  /** Opens it when that did not happen yet. */
  readonly opened: () => Promise<LimitStore>
  readonly platform: Platform
}

export interface Asked {
  readonly taken: Taken
  /** From sending the question until its answer was heard here. */
  readonly tookMs: number
}

export interface AskOptions {
  readonly signal: AbortSignal
  /** Whether all that this holder has of this limit may be given back: nothing here relies on it. */
  readonly mayGiveBack: () => boolean
}

export interface Asks {
  readonly ask: (take: Take, options: AskOptions) => Promise<Asked>
  /** Resolves when it is known that nothing is held any more, or when that cannot be found out. */
  readonly giveBack: (what: PermitOf) => Promise<void>
}

const MOST_TIMES = 10
const PAUSES = { firstMs: 50, longestMs: 5_000 }

export function asks({ opened, platform }: AskTools): Asks {
  const take = batcher<Take, Asked>(async (items) => {
    const store = await opened()
    const sentAt = platform.monotonic()
    const replies = await store.take(items)
    const tookMs = platform.monotonic() - sentAt
    return replies.map((taken) => ({ taken, tookMs }))
  })
  const back = batcher<PermitOf, boolean>(async (items) => (await opened()).giveBack(items))

  async function giveBack({ limit, holder, token }: PermitOf): Promise<void> {
    const pause = pauses(platform, PAUSES)
    for (let times = 1; times <= MOST_TIMES; times += 1) {
      try {
        await back({ limit, holder, token })
        return
      } catch (error) {
        // What remains goes with its job or its instance, and that of a mill that was stopped is gone already.
        if (!isJobmillError(error) || !error.retryable) return
      }
      await pause.wait()
    }
  }

  return {
    giveBack,
    async ask(item, { signal, mayGiveBack }) {
      const pause = pauses(platform, PAUSES)
      for (let times = 1; ; times += 1) {
        const asked = take(item)
        try {
          return await orAborted(asked, signal)
        } catch (error) {
          if (signal.aborted) void nobodyWaits(asked, () => mayGiveBack() && giveBack(item))
          signal.throwIfAborted()
          const isUnknown = isJobmillError(error) && error.code === 'OUTCOME_UNKNOWN'
          if (!isUnknown || times === MOST_TIMES) throw error
        }
        await pause.wait(signal)
        signal.throwIfAborted()
        // A permit that was given after all would stand in its own way.
        if (mayGiveBack()) await giveBack(item)
      }
    },
  }
}

/** What is granted when nobody waits for it any more goes back. */
async function nobodyWaits(asked: Promise<Asked>, giveBack: () => unknown): Promise<void> {
  const { taken } = await asked.catch(() => ({ taken: null }))
  if (taken?.outcome === 'granted') giveBack()
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
