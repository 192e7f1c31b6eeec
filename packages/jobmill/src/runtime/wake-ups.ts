/**
 * Decides how this instance reacts to a notification. Only as many workers wake as there are jobs: the first
 * instances in a shared order take them, and forward the rest if they lack free workers.
 */
import type { Platform, Timer } from '../platform/platform.ts'
import { shareOf, type WakeUp } from '../store/wake-up.ts'
import type { Notifier } from '../store/store.ts'
import type { Slots } from '../work/slots.ts'
import type { Member } from './queue-watch.ts'

export interface WakeUpsOptions {
  readonly me: string
  readonly kinds: readonly string[]
  readonly store: Pick<Notifier, 'forward'>
  readonly members: (queue: string) => readonly Member[]
  readonly slots: Pick<Slots, 'room'>
  readonly wake: (queues: readonly string[]) => void
  readonly platform: Platform
}

export interface WakeUps {
  readonly receive: (wakeUps: readonly WakeUp[]) => void
  /** A claim returned no jobs. */
  readonly foundNothing: () => void
  readonly stop: () => void
}

/** Where notifications are not forwarded, the other instances look for jobs after this delay. */
const LOOK_LATER_MS = 25

export function wakeUps(options: WakeUpsOptions): WakeUps {
  const { me, store, platform } = options
  const later = new Map<string, Timer>()
  /** Notifications this instance was chosen for, until it has claimed. */
  const pending = new Map<string, { readonly receive: WakeUp; readonly skip: number }>()

  function shouldClaim(receive: WakeUp): boolean {
    const { jobs } = receive
    const members = options.members(receive.queue)
    // Until this instance is in its own member list it can only claim.
    if (jobs === null || !members.some(({ instance }) => instance === me)) return true
    const mine = shareOf({ ...receive, jobs }, members, me)
    if (mine.jobs === 0) {
      if (!receive.passes) lookLater(receive.queue)
      return false
    }
    const room = options.slots.room().find(({ queue }) => queue === receive.queue)?.room ?? 0
    if (receive.passes && mine.skip !== null) {
      if (room < mine.jobs) store.forward({ ...receive, jobs: mine.jobs - room, skip: mine.skip })
      if (room > 0) pending.set(receive.queue, { receive: { ...receive, jobs: mine.jobs }, skip: mine.skip })
    }
    // Also without a free worker: the queue is then checked when one becomes free.
    return true
  }

  function lookLater(queue: string): void {
    if (later.has(queue)) return
    later.set(
      queue,
      platform.timer(LOOK_LATER_MS, () => {
        later.delete(queue)
        options.wake([queue])
      }),
    )
  }

  return {
    receive(wakeUps) {
      const queues = wakeUps.filter(shouldClaim).map(({ queue }) => queue)
      if (queues.length > 0) options.wake(queues)
    },
    foundNothing() {
      for (const { receive, skip } of pending.values()) {
        // The jobs may be of a kind that only other instances handle.
        const others = options.members(receive.queue).flatMap(({ kinds }) => kinds)
        if (others.some((kind) => !options.kinds.includes(kind))) store.forward({ ...receive, skip })
      }
      pending.clear()
    },
    stop() {
      for (const timer of later.values()) timer.cancel()
      later.clear()
    },
  }
}
