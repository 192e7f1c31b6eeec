/** Pauses a queue at times, directly at the store, so that no call is delayed. */
import type { FullStore } from 'jobmill'
import type { Chance } from '../chance.ts'
import type { Recorder } from '../recorder.ts'
import type { World } from '../world.ts'

export interface PausesOptions {
  readonly world: World
  readonly store: FullStore<never>
  readonly recorder: Recorder
  readonly chance: Chance
}

const QUEUE = 'side'
const LONGEST_MS = 1_500

/** Returns the function that ends it, with the queue resumed. */
export function pauses({ world, store, recorder, chance }: PausesOptions): () => void {
  let isOver = false

  function turn(paused: boolean): void {
    const args = [QUEUE, { settings: { paused }, coolMs: null }] as const
    const tell = recorder.arrived('queues.change', args)
    void store.queues.change(...args).then(tell, () => {
      // The queue does not exist yet.
    })
  }

  function pause(): void {
    if (isOver) return
    turn(true)
    world.after(chance.between(0, LONGEST_MS), null, () => {
      turn(false)
      world.after(chance.between(1_000, 6_000), null, pause)
    })
  }
  if (chance.isIt(0.5)) world.after(chance.between(500, 5_000), null, pause)
  return () => {
    isOver = true
    turn(false)
  }
}
