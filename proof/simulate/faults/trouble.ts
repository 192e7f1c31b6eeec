/**
 * Injects faults, a different mix for each seed: processes die, freeze beyond their lease, stop and are
 * replaced, clocks jump, connections are cut.
 */
import type { Chance } from '../chance.ts'
import type { Weather } from '../process/network.ts'
import type { SimulatedProcess } from '../process/process.ts'
import type { World } from '../world.ts'

export interface Troubles {
  kills: number
  stills: number
  stops: number
  steps: number
  cuts: number
  /** Outages of the store for all processes at once. */
  outages: number
}

export const FAIR: Weather = {
  slowestMs: 2,
  losesCalls: 0,
  losesReplies: 0,
  doubles: 0,
  delaysCalls: 0,
  delaysReplies: 0,
}

/** From a lossless network to one that loses one call in ten. */
export function weatherFor(chance: Chance): Weather {
  const rate = (most: number): number => (chance.isIt(0.5) ? 0 : chance.between(0, most))
  return {
    slowestMs: chance.pick([2, 20, 200]),
    losesCalls: rate(0.1),
    losesReplies: rate(0.1),
    doubles: rate(0.2),
    delaysCalls: rate(0.05),
    delaysReplies: rate(0.05),
  }
}

export interface TroubleOptions {
  readonly world: World
  readonly chance: Chance
  readonly workers: SimulatedProcess[]
  /** A process ends, now or soon. */
  readonly gone: (process: SimulatedProcess) => void
  /** Starts a replacement for a process that is gone, which was worker `at`. */
  readonly start: (name: string, at: number) => SimulatedProcess
}

const HOUR_MS = 3_600_000

export function trouble({ world, chance, workers, gone, start }: TroubleOptions): {
  readonly counts: Troubles
  /** Resumes all processes and restores all connections. */
  end(): void
} {
  const counts: Troubles = { kills: 0, stills: 0, stops: 0, steps: 0, cuts: 0, outages: 0 }
  let isOver = false
  let started = 0

  function replace(at: number): void {
    started += 1
    workers[at] = start(`worker ${at}, ${started} later`, at)
  }

  const kinds: Record<Exclude<keyof Troubles, 'outages'>, (at: number, one: SimulatedProcess) => void> = {
    kills(at, one) {
      gone(one)
      world.kill(one.owner)
      world.after(chance.between(0, 2_000), null, () => replace(at))
    },
    stills(_, one) {
      const { owner } = one
      // To the other processes it is gone, and its crashes count: it cannot be distinguished from a process
      // with a blocked event loop.
      gone(one)
      world.holdStill(owner)
      // The lease is 10 s: some processes resume in time, and some have lost it.
      world.after(chance.pick([50, 3_000, 14_000]), null, () => world.goOn(owner))
    },
    stops(at, one) {
      gone(one)
      void one.mill.stop({ grace: chance.pick([0, 100, 5_000]) }).catch(() => {})
      replace(at)
    },
    steps: (_, { platform }) => platform.stepClock(chance.pick([-HOUR_MS, HOUR_MS, -7, 1_000])),
    cuts(_, { line }) {
      line.cut = true
      world.after(chance.pick([100, 2_000, 12_000]), null, () => void (line.cut = false))
    },
  }
  const wanted = (Object.keys(kinds) as (keyof typeof kinds)[]).filter(() => chance.isIt(0.5))

  function strike(): void {
    if (isOver || wanted.length === 0) return
    const kind = chance.pick(wanted)
    const at = chance.whole(0, workers.length - 1)
    const one = workers[at]
    if (one?.owner.state === 'alive') {
      counts[kind] += 1
      kinds[kind](at, one)
    }
    world.after(chance.next() ** 2 * 4_000, null, strike)
  }
  world.after(chance.between(500, 3_000), null, strike)

  return {
    counts,
    end() {
      isOver = true
      for (const { owner, line } of workers) {
        line.cut = false
        world.goOn(owner)
      }
      // At least one process must run, so that work can recover.
      workers.forEach(({ owner }, at) => owner.state === 'dead' && replace(at))
    },
  }
}
