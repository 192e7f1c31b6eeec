/** Makes one process quiet at times, directly at the store, so that no call is delayed. */
import type { FullStore } from 'jobmill'
import type { Chance } from '../chance.ts'
import type { SimulatedProcess } from '../process/process.ts'
import type { Recorder } from '../recorder.ts'
import type { World } from '../world.ts'

export interface RequestsOptions {
  readonly world: World
  readonly store: FullStore<never>
  readonly recorder: Recorder
  readonly chance: Chance
  /** Replaced when they die. */
  readonly workers: readonly SimulatedProcess[]
}

/** Only this share of the seeds has requests. The histories of the other seeds are as before. */
const SHARE = 0.25
const LONGEST_MS = 4_000
/** Longer than a process may be frozen or cut off. */
const MOST_TRIES = 40
const RETRY_MS = 500

/** Returns the function that ends it, with every process resumed. */
export function requests({ world, store, recorder, chance, workers }: RequestsOptions): () => void {
  let isOver = false
  const quiet = new Set<string>()

  function request(instance: string, isQuiet: boolean, tries = MOST_TRIES): void {
    if (isQuiet) quiet.add(instance)
    else quiet.delete(instance)
    const args = [instance, isQuiet ? 'quiet' : null, 'operator'] as const
    const tell = recorder.arrived('instances.request', args)
    void store.instances.request(...args).then(tell, () => {
      // The process has not registered yet, or has ended. One that was lost may come back, still quiet.
      if (!isQuiet && tries > 0) world.after(RETRY_MS, null, () => request(instance, false, tries - 1))
    })
  }

  function act(): void {
    if (isOver) return
    const { instance } = chance.pick(workers).mill
    request(instance.id, true)
    world.after(chance.between(0, LONGEST_MS), null, () => {
      if (quiet.has(instance.id)) request(instance.id, false)
      world.after(chance.between(500, 4_000), null, act)
    })
  }
  if (chance.isIt(SHARE)) world.after(chance.between(500, 4_000), null, act)
  return () => {
    isOver = true
    for (const instance of quiet) request(instance, false)
  }
}
