/**
 * Enqueues jobs that wait for events, and sends as many events as they have waits: before the wait, right
 * when it begins, or when its job is parked.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Mill } from 'jobmill'
import type { Chance } from '../../simulate/chance.ts'
import { EVENT, EVENTS_KIND, type StepLine, type StepsPayload } from './kinds.ts'

export interface SentEvent {
  readonly job: string
  /** Its payload, which no other event has. */
  readonly n: number
  isAcknowledged: boolean
}

export interface Senders {
  readonly sent: readonly SentEvent[]
  /** Calls that were refused. */
  readonly wrong: readonly string[]
  /** Enqueues a job that starts after the delay. */
  readonly enqueue: (waits: number, delayMs: number) => Promise<string>
  /** A wait begins. */
  readonly seen: (line: StepLine) => void
  /** All calls have returned. */
  readonly settled: () => Promise<void>
}

type When = 'before' | 'at' | 'parked'
const WHEN: readonly When[] = ['before', 'at', 'parked']
/** By then, the attempt is parked. */
const PARKED_AFTER_MS = [150, 500] as const

export function senders(mill: Mill, chance: Chance): Senders {
  const sent: SentEvent[] = []
  const wrong: string[] = []
  const pending = new Set<Promise<void>>()
  /** When each wait of a job gets its event. */
  const plans = new Map<string, When[]>()

  async function send(job: string): Promise<void> {
    const event = { job, n: sent.length, isAcknowledged: false }
    sent.push(event)
    try {
      await mill.sendEvent(job, EVENT, event.n)
      event.isAcknowledged = true
    } catch (error) {
      wrong.push(String(error))
    }
  }

  function track(work: Promise<void>): void {
    pending.add(work)
    void work.finally(() => pending.delete(work))
  }

  return {
    sent,
    wrong,
    async enqueue(waits, delayMs) {
      const payload: StepsPayload = { count: waits }
      const { kind, queue } = EVENTS_KIND
      const { id } = await mill.enqueue(kind, payload, { queue, delay: delayMs, maxAttempts: 20 })
      const plan = Array.from({ length: waits }, () => chance.pick(WHEN))
      plans.set(id, plan)
      for (const when of plan) if (when === 'before') track(send(id))
      return id
    },
    seen({ what, job, step }) {
      if (what !== 'waits') return
      const plan = plans.get(job)
      const at = Number(step.split(' ')[1]) - 1
      const when = plan?.[at]
      if (plan === undefined || when === undefined || when === 'before') return
      // The next attempt begins the same wait.
      plan[at] = 'before'
      if (when === 'at') track(send(job))
      else track(sleep(chance.between(...PARKED_AFTER_MS)).then(() => send(job)))
    },
    async settled() {
      while (pending.size > 0) await Promise.all(pending)
    },
  }
}
