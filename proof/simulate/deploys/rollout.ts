/**
 * Deploys one release after another, worker by worker, while processes of several releases run side by side.
 * A worker may return to an earlier release, and processes that crash start again in that of their worker.
 */
import type { Chance } from '../chance.ts'
import type { SimulatedProcess } from '../process/process.ts'
import type { World } from '../world.ts'
import type { Release } from './jobs.ts'

interface RolloutOptions {
  readonly world: World
  readonly chance: Chance
  /** Replaced when they stop. */
  readonly workers: SimulatedProcess[]
  readonly gone: (process: SimulatedProcess) => void
  readonly start: (name: string, at: number) => SimulatedProcess
}

export interface Rollout {
  readonly begin: (options: RolloutOptions) => void
  /** What a process of this worker runs that starts now. */
  readonly releaseOf: (at: number) => Release
  /** Deploys the last release on all workers, so that every job can end. */
  readonly end: () => void
}

const LONGEST_BETWEEN_MS = 3_000
const GOES_BACK = 0.25

/** The last release can run every job. */
export function releasesFor(chance: Chance): readonly Release[] {
  const first = { version: chance.pick([undefined, 1]), hasOnCancelled: chance.isIt(0.5) }
  const second = { version: 2, hasOnCancelled: chance.isIt(0.8) }
  return chance.isIt(0.5)
    ? [first, { ...second, hasOnCancelled: true }]
    : [first, second, { version: 3, hasOnCancelled: true }]
}

export function rollout(releases: readonly Release[]): Rollout {
  const last = releases.length - 1
  /** The release of each worker, by its place in the list. */
  const current: number[] = []
  let options: RolloutOptions | undefined
  let isOver = false
  let moves = 0

  function move(at: number, to: number): void {
    const worker = options?.workers[at]
    if (options === undefined || worker === undefined || current[at] === to) return
    current[at] = to
    // A worker that is dead starts in the new release.
    if (worker.owner.state === 'dead') return
    moves += 1
    options.gone(worker)
    void worker.mill.stop({ grace: options.chance.pick([0, 100, 5_000]) }).catch(() => {})
    options.workers[at] = options.start(`worker ${at}, release ${to}, move ${moves}`, at)
  }

  function step(): void {
    if (isOver || options === undefined) return
    const { world, chance, workers } = options
    const at = chance.whole(0, workers.length - 1)
    const now = current[at] ?? 0
    move(at, chance.isIt(GOES_BACK) ? Math.max(0, now - 1) : Math.min(last, now + 1))
    world.after(chance.between(0, LONGEST_BETWEEN_MS), null, step)
  }

  return {
    begin(given) {
      options = given
      given.workers.forEach((_, at) => (current[at] ??= 0))
      given.world.after(given.chance.between(500, LONGEST_BETWEEN_MS), null, step)
    },
    releaseOf: (at) => releases[(current[at] ??= 0)] as Release,
    end() {
      isOver = true
      options?.workers.forEach((_, at) => move(at, last))
    },
  }
}
