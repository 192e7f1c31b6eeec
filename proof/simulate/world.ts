/**
 * A world with one clock and one thing happening at a time. Whatever waits, waits here; what happens next is the earliest, and all that follows from it without
 * waiting has happened before the next does. So a seed decides everything.
 */
import { timeline } from '../../packages/jobmill/src/testing/kit/timeline.ts'

/** Somebody to whom things happen: not any more when it is dead, and later when it stands still. */
export interface Owner {
  readonly name: string
  state: 'alive' | 'still' | 'dead'
  /** Since when it has not stood still. */
  awakeSince: number
}

export interface World {
  /** Milliseconds, with fractions, from 0. */
  readonly now: () => number
  /** Has `task` happen after `ms`, to `owner`; null for what nobody can stop. */
  readonly after: (ms: number, owner: Owner | null, task: () => void) => { cancel(): void }
  /** Goes on until then, or until `isOver`. */
  readonly run: (until: number, isOver?: () => boolean) => Promise<void>
  /** Stands still from now on, or goes on: then all that should have happened meanwhile happens. */
  readonly holdStill: (owner: Owner) => void
  readonly goOn: (owner: Owner) => void
  readonly kill: (owner: Owner) => void
  /** Has this happen after each step, when everything that follows from it has happened. */
  readonly afterSteps: (task: () => void) => void
  /** How many things have happened. */
  readonly steps: () => number
}

interface Event {
  readonly owner: Owner | null
  readonly task: () => void
  isCancelled: boolean
}

/** What a step takes, so that time passes also for those who never wait. */
const STEP_MS = 0.01

/** A turn of the real loop: every promise that could be settled has been, and whoever waited for it has gone on. */
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

export function world(): World {
  const events = timeline()
  const held = new Map<Owner, Event[]>()
  const afterwards: (() => void)[] = []
  let now = 0
  let steps = 0

  function happen(event: Event): void {
    const { owner, task, isCancelled } = event
    if (isCancelled || owner?.state === 'dead') return
    if (owner?.state === 'still') held.get(owner)?.push(event)
    else task()
  }

  return {
    now: () => now,
    steps: () => steps,
    afterSteps: (task) => void afterwards.push(task),
    after(ms, owner, task) {
      const event = { owner, task, isCancelled: false }
      const entry = events.add(now + Math.max(0, ms), () => happen(event))
      return {
        cancel() {
          event.isCancelled = true
          events.remove(entry)
        },
      }
    },
    async run(until, isOver = () => false) {
      await settled()
      while (!isOver()) {
        const next = events.take(until)
        if (next === undefined) break
        now = Math.max(now + STEP_MS, next.at)
        steps += 1
        next.task()
        await settled()
        for (const task of afterwards) task()
      }
      now = Math.max(now, Math.min(until, events.nextAt ?? until))
    },
    holdStill(owner) {
      if (owner.state !== 'alive') return
      owner.state = 'still'
      held.set(owner, [])
    },
    goOn(owner) {
      if (owner.state !== 'still') return
      owner.state = 'alive'
      owner.awakeSince = now
      for (const event of held.get(owner) ?? []) events.add(now, () => happen(event))
      held.delete(owner)
    },
    kill(owner) {
      owner.state = 'dead'
      held.delete(owner)
    },
  }
}
