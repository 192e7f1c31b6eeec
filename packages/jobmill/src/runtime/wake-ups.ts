/**
 * What a ring of the notifier means for this instance. As many workers are woken as there are jobs, and no more: who is not among the first of the order
 * leaves it to them; who is, and has too little room, hands the rest on.
 */
import type { Platform, Timer } from '../platform/platform.ts'
import { chosen, type WakeUp } from '../store/wake-up.ts'
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
  /** A claim came back empty. */
  readonly foundNothing: () => void
  readonly stop: () => void
}

/** Where nobody hands a ring on, the others look when the first have had their chance. */
const LOOK_LATER_MS = 25

export function wakeUps(options: WakeUpsOptions): WakeUps {
  const { me, store, platform } = options
  const later = new Map<string, Timer>()
  /** Rings that this instance was chosen for, until it has looked. */
  const taken = new Map<string, { readonly receive: WakeUp; readonly skip: number }>()

  function hear(receive: WakeUp): boolean {
    const { jobs } = receive
    const members = options.members(receive.queue)
    // Before it is known to itself it can only look.
    if (jobs === null || !members.some(({ instance }) => instance === me)) return true
    const mine = chosen({ ...receive, jobs }, members, me)
    if (mine.jobs === 0) {
      if (!receive.passes) lookLater(receive.queue)
      return false
    }
    const room = options.slots.room().find(({ queue }) => queue === receive.queue)?.room ?? 0
    if (receive.passes && mine.skip !== null) {
      if (room < mine.jobs) store.forward({ ...receive, jobs: mine.jobs - room, skip: mine.skip })
      if (room > 0) taken.set(receive.queue, { receive: { ...receive, jobs: mine.jobs }, skip: mine.skip })
    }
    // Also without room: when a worker is free, this queue is among those that are looked at.
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
      const queues = wakeUps.filter(hear).map(({ queue }) => queue)
      if (queues.length > 0) options.wake(queues)
    },
    foundNothing() {
      for (const { receive, skip } of taken.values()) {
        // They may be of a kind that only others have a handler for.
        const others = options.members(receive.queue).flatMap(({ kinds }) => kinds)
        if (others.some((kind) => !options.kinds.includes(kind))) store.forward({ ...receive, skip })
      }
      taken.clear()
    },
    stop() {
      for (const timer of later.values()) timer.cancel()
      later.clear()
    },
  }
}
