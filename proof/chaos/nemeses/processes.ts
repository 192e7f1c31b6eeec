/**
 * Faults of worker processes: killed, frozen for longer than their lease, stopped under load, and with a
 * wrong clock.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { nowMs } from '../../cluster/clock.ts'
import type { Worker } from '../../cluster/workers.ts'
import { BACK_MS, cannot, LOST_PROCESS_MS, type Nemesis, type Scene } from '../scene.ts'

const BOTH = ['postgres', 'sqlite'] as const

function one({ workers, chance }: Scene): Worker {
  return chance.pick(workers.alive())
}

export const kill: Nemesis = {
  name: 'kill',
  stores: BOTH,
  recoversWithinMs: LOST_PROCESS_MS,
  async strike({ workers, progressLog, signal }) {
    const killed = await workers.killBusiest(AbortSignal.any([signal, AbortSignal.timeout(10_000)]))
    if (killed?.diedAt === undefined || killed.diedAt === null) return cannot('no worker ran a job', nowMs())
    const ran = killed.ledger.open().length
    progressLog.say(`kill -9 of worker ${killed.number}, which ran ${ran} ${ran === 1 ? 'job' : 'jobs'}`)
    await workers.start()
    return { injected: 1, overAt: killed.diedAt }
  },
}

/** The default lease is 10 s. */
const STILL_MS = 13_000

export const stopCont: Nemesis = {
  name: 'stop-cont',
  stores: BOTH,
  recoversWithinMs: LOST_PROCESS_MS,
  async strike(scene) {
    const { workers, progressLog, signal, stillnesses } = scene
    const worker = one(scene)
    const from = nowMs()
    await workers.hold(worker)
    progressLog.say(`worker ${worker.number} is frozen for ${STILL_MS / 1_000} s`)
    return {
      injected: 1,
      overAt: from,
      // Other workers take its jobs before it resumes, and then it reports stale outcomes.
      async afterwards() {
        await sleep(Math.max(0, from + STILL_MS - nowMs()), undefined, { signal })
        workers.resume(worker)
        stillnesses.push({ worker: worker.number, from, to: nowMs() })
      },
    }
  },
}

export const term: Nemesis = {
  name: 'term',
  stores: BOTH,
  recoversWithinMs: BACK_MS,
  async strike(scene) {
    const { workers, progressLog } = scene
    const worker = one(scene)
    progressLog.say(`SIGTERM to worker ${worker.number}, under load`)
    const overAt = nowMs()
    await Promise.all([workers.retire(worker), workers.start()])
    return { injected: 1, overAt }
  },
}

const HOUR_S = 3_600
/**
 * On SQLite, the process clock is the database clock, and a job delayed by a clock that is an hour ahead
 * would be due an hour later.
 */
const STEPS = { postgres: [HOUR_S, -HOUR_S, 0], sqlite: [-HOUR_S, 0] }
const RENEWED_WITHIN_MS = 5_000
const SHOWN_WITHIN_MS = 10_000

export const clockStep: Nemesis = {
  name: 'clock-step',
  stores: BOTH,
  recoversWithinMs: LOST_PROCESS_MS,
  async strike(scene) {
    const { clock, workers, progressLog, stillnesses } = scene
    if (clock === null) return cannot('libfaketime is not installed', nowMs())
    const from = nowMs()
    let injected = 0
    for (const seconds of STEPS[scene.store]) {
      clock.set(seconds)
      const count = await countShifted(scene, seconds)
      progressLog.say(`clocks of ${count} workers are wrong by ${seconds / HOUR_S} h`)
      // Restoring the right time is not a fault.
      if (seconds !== 0) injected += count
    }
    const overAt = nowMs()
    // By the database clock, all leases have expired; workers notice with their next heartbeat.
    if (scene.store === 'sqlite')
      for (const { number: worker } of workers.all)
        stillnesses.push({ worker, from, to: overAt + RENEWED_WITHIN_MS })
    return { injected, overAt }
  },
}

/** How many workers have noticed. */
async function countShifted({ workers, signal }: Scene, seconds: number): Promise<number> {
  const deadline = nowMs() + SHOWN_WITHIN_MS
  for (;;) {
    const aware = workers.alive().filter(({ ledger }) => {
      ledger.read()
      return Math.abs((ledger.clocks.at(-1) ?? 0) - seconds * 1_000) < 60_000
    })
    if (aware.length === workers.alive().length || nowMs() > deadline) return aware.length
    await sleep(50, undefined, { signal })
  }
}
