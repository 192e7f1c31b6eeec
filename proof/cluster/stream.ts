/** A steady stream of jobs from a process that only enqueues. It records each answer and its time. */
import { setTimeout as sleep } from 'node:timers/promises'
import { isJobmillError, type Mill } from 'jobmill'
import { nowMs } from './clock.ts'
import { QUEUE, workAt } from './kinds.ts'
import type { Lie } from './lies.ts'

/**
 * acknowledged: `enqueue` resolved. unknown: it may have been written, but the answer was lost. refused: the
 * database was unreachable, and nothing was written. open: no answer yet.
 */
export type Answer = 'acknowledged' | 'unknown' | 'refused' | 'open'

export interface Sent {
  readonly n: number
  readonly orderKey: string | null
  readonly sentAt: number
  answeredAt: number | null
  answer: Answer
  /** Null unless the job was acknowledged. */
  id: string | null
}

export interface Stream {
  readonly sent: readonly Sent[]
  /**
   * Sends until its time is over and `isEnough` returns true. Resolves when every call is answered; rejects
   * if an error blames the call itself.
   */
  readonly run: (signal: AbortSignal, isEnough: () => boolean) => Promise<void>
}

export interface StreamOptions {
  readonly mill: Pick<Mill, 'enqueue'>
  readonly seconds: number
  readonly rate: number
  readonly lies: readonly Lie[]
  /** Receives errors that blame the call, instead of a rejection. */
  readonly wrong?: (error: unknown) => void
}

export function stream({ mill, seconds, rate, lies, wrong }: StreamOptions): Stream {
  const sent: Sent[] = []
  const withOrderKeys = !lies.includes('no-order')

  async function send(n: number): Promise<void> {
    const { kind, work } = workAt(n)
    const one: Sent = {
      n,
      orderKey: work.orderKey,
      sentAt: nowMs(),
      answeredAt: null,
      answer: 'open',
      id: null,
    }
    sent.push(one)
    const orderKey = work.orderKey !== null && withOrderKeys ? { orderKey: work.orderKey } : {}
    try {
      one.id = (await mill.enqueue(kind, work, { queue: QUEUE, ...orderKey })).id
      one.answer = 'acknowledged'
    } catch (error) {
      if (!isJobmillError(error) || !error.retryable) {
        if (wrong === undefined) throw error
        wrong(error)
        // The error does not say what was written.
        one.answer = 'unknown'
      } else one.answer = error.code === 'OUTCOME_UNKNOWN' ? 'unknown' : 'refused'
    } finally {
      one.answeredAt = nowMs()
    }
  }

  return {
    sent,
    async run(signal, isEnough) {
      const beganAt = nowMs()
      const calls: Promise<void>[] = []
      for (let n = 0; n < seconds * rate || !isEnough(); n += 1) {
        const waitMs = beganAt + (n * 1_000) / rate - nowMs()
        if (waitMs > 0) await sleep(waitMs, undefined, { signal })
        const call = send(n)
        // Awaited below; until then it must not be an unhandled rejection.
        call.catch(() => {})
        calls.push(call)
      }
      await Promise.all(calls)
    },
  }
}
