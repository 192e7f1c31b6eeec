/**
 * A simulated world with one clock and one event at a time. All waits go through it. The next event is the
 * earliest, and everything that follows from it without waiting happens before the next one. So a seed
 * determines everything.
 */
import { timeline } from '../../packages/jobmill/src/testing/kit/timeline.ts'

/** The target of events: they are dropped if it is dead, and delayed while it is frozen. */
export interface Owner {
  readonly name: string
  state: 'alive' | 'still' | 'dead'
  /** Since when it has been awake. */
  awakeSince: number
}

export interface World {
  /** Milliseconds with fractions, from 0. */
  readonly now: () => number
  /** Runs `task` after `ms` on `owner`; null for events that cannot be stopped. */
  readonly after: (ms: number, owner: Owner | null, task: () => void) => { cancel(): void }
  /** Runs until then, or until `isOver`. */
  readonly run: (until: number, isOver?: () => boolean) => Promise<void>
  /** Freezes or resumes an owner; on resume, all missed events happen. */
  readonly holdStill: (owner: Owner) => void
  readonly goOn: (owner: Owner) => void
  readonly kill: (owner: Owner) => void
  /** Runs a task after each step, when everything that follows from it has happened. */
  readonly afterSteps: (task: () => void) => void
  /** The number of events so far. */
  readonly steps: () => number
}

interface Event {
  readonly owner: Owner | null
  readonly task: () => void
  isCancelled: boolean
}

/** The duration of a step, so that time passes even without waits. */
const STEP_MS = 0.01

/**
 * A turn of the real event loop: every promise that could settle has settled, and its continuations have run.
 */
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
