/**
 * What a ring of the doorbell means for this instance. As many workers are woken as there are jobs, and no more: who is not among the first of the order
 * leaves it to them; who is, and has too little room, hands the rest on.
 */
import type { Platform, Timer } from '../platform/platform.ts'
import { chosen, type Rung } from '../store/rung.ts'
import type { Doorbell } from '../store/store.ts'
import type { Slots } from '../work/slots.ts'
import type { Member } from './queue-watch.ts'

export interface RingingOptions {
  readonly me: string
  readonly kinds: readonly string[]
  readonly store: Pick<Doorbell, 'pass'>
  readonly members: (queue: string) => readonly Member[]
  readonly slots: Pick<Slots, 'room'>
  readonly wake: (queues: readonly string[]) => void
  readonly platform: Platform
}

export interface Ringing {
  readonly rung: (rungs: readonly Rung[]) => void
  /** A claim came back empty. */
  readonly foundNothing: () => void
  readonly stop: () => void
}

/** Where nobody hands a ring on, the others look when the first have had their chance. */
const LOOK_LATER_MS = 25

export function ringing(options: RingingOptions): Ringing {
  const { me, store, platform } = options
  const later = new Map<string, Timer>()
  /** Rings that this instance was chosen for, until it has looked. */
  const taken = new Map<string, { readonly rung: Rung; readonly skip: number }>()

  function hear(rung: Rung): boolean {
    const { jobs } = rung
    const members = options.members(rung.queue)
    // Before it is known to itself it can only look.
    if (jobs === null || !members.some(({ instance }) => instance === me)) return true
    const mine = chosen({ ...rung, jobs }, members, me)
    if (mine.jobs === 0) {
      if (!rung.passes) lookLater(rung.queue)
      return false
    }
    const room = options.slots.room().find(({ queue }) => queue === rung.queue)?.room ?? 0
    if (rung.passes && mine.skip !== null) {
      if (room < mine.jobs) store.pass({ ...rung, jobs: mine.jobs - room, skip: mine.skip })
      if (room > 0) taken.set(rung.queue, { rung: { ...rung, jobs: mine.jobs }, skip: mine.skip })
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
    rung(rungs) {
      const queues = rungs.filter(hear).map(({ queue }) => queue)
      if (queues.length > 0) options.wake(queues)
    },
    foundNothing() {
      for (const { rung, skip } of taken.values()) {
        // They may be of a kind that only others have a handler for.
        const others = options.members(rung.queue).flatMap(({ kinds }) => kinds)
        if (others.some((kind) => !options.kinds.includes(kind))) store.pass({ ...rung, skip })
      }
      taken.clear()
    },
    stop() {
      for (const timer of later.values()) timer.cancel()
      later.clear()
    },
  }
}
