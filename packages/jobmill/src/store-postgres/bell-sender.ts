/** Sends rings to other processes, one message at a time. What is rung while one is on its way goes out together in the next. */
import type { Platform } from '../platform/platform.ts'
import type { Rung } from '../store/rung.ts'
import { addRings, type BellMessage, messageText, type Ring } from './bell-message.ts'

export interface BellSender {
  /**
   * What is to be told here, at once: these queues, with all that was rung for them under the turn that the others will hear. So the last
   * that is told here is what is told there, and all put themselves into the same order.
   */
  ring(rings: readonly Ring[]): BellMessage
  pass(rung: Rung): void
  /** When nothing is left to send. */
  idle(): Promise<void>
}

interface Draft {
  readonly turn: number
  readonly skip: number
  readonly sums: Map<string, number | null>
}

/** More than this that wait to be passed on: the database is slow, and who waits polls sooner than these would arrive. */
const MOST_PASSES = 100

/** With `send: null` nothing is sent. */
export function bellSender(options: {
  readonly me: string
  readonly platform: Platform
  readonly send: ((text: string) => Promise<unknown>) | null
}): BellSender {
  const { me, platform, send } = options
  let next: Draft | undefined
  const passes: Draft[] = []
  let sending: Promise<void> | undefined

  /** At random, so that it is somebody else's turn each time; 31 bits, so that it is a whole number everywhere. */
  const newDraft = (): Draft => ({
    turn: Math.floor(platform.random() * 2 ** 31),
    skip: 0,
    sums: new Map(),
  })

  function takeDraft(): Draft | undefined {
    const draft = next ?? passes.shift()
    if (draft === next) next = undefined
    return draft
  }

  async function sendAll(): Promise<void> {
    for (let draft = takeDraft(); draft !== undefined; draft = takeDraft()) {
      const { turn, skip, sums } = draft
      const rings = [...sums].map(([queue, jobs]) => ({ queue, jobs }))
      try {
        await send?.(messageText({ from: me, turn, skip, rings }))
      } catch {
        // Best effort: whoever waits polls as well.
      }
    }
    // In the same breath as the look that found nothing: a ring after it begins anew.
    sending = undefined
  }

  function start(): void {
    sending ??= sendAll()
  }

  return {
    ring(rings) {
      next ??= newDraft()
      const { turn, skip, sums } = next
      addRings(sums, rings)
      const told = [...new Set(rings.map(({ queue }) => queue))].map((queue) => ({
        queue,
        jobs: sums.get(queue) ?? null,
      }))
      start()
      return { from: me, turn, skip, rings: told }
    },
    pass({ queue, jobs, turn, skip }) {
      if (passes.length < MOST_PASSES) passes.push({ turn, skip, sums: new Map([[queue, jobs]]) })
      start()
    },
    idle: async () => sending,
  }
}
