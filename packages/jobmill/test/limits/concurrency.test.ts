/**
 * Concurrency limits over many processes, some of which die: the limit always holds, and no permit is stuck.
 * On the oracle and both stores.
 */
import { describe, expect, test } from 'vitest'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { isJobmillError } from '../../src/job/errors.ts'
import { Snooze } from '../../src/job/attempt/thrown.ts'
import { sleep } from '../../src/platform/sleep.ts'
import type { Lease } from '../../src/store/types/claim.ts'
import type { Transition } from '../../src/store/types/finish.ts'
import type { TestPlatform } from '../../src/testing/index.ts'
import { aClaim, aJob, anInstance, aHeartbeat } from '../../../conformance/src/index.ts'
import { PLACES } from './places.ts'
import { insideOf, type Process, scene } from './scene.ts'

const MOST = 3
const SLOTS = 8
const LEASE_MS = 3_000
/** The number of jobs, and the intervals between deaths of processes. */
const LONG: Amount = [40, [300, 1_900, 3_100, 2_300]]
const SHORT: Amount = [16, [300, 1_900]]
const SHORTEST: Amount = [10, [300]]

type Amount = readonly [jobs: number, deathsMs: readonly number[]]

/** The use of the limit by all processes. */
interface Usage {
  now: number
  most: number
  done: number
}

/** A minimal runtime: claims, runs, finishes and renews until it dies. */
function runtime(process: Process, platform: TestPlatform, usage: Usage) {
  const { store, instance, limits } = process
  const life = new AbortController()
  const { signal } = life
  let running = 0
  let using = 0

  async function finish({ id, token }: Lease, transition: Transition): Promise<void> {
    const outcome = transition.to === 'done' ? 'returned' : 'snoozed'
    await store.finish([{ id, token, outcome, transition }])
  }

  /** Like a handler: the last line runs only when the process is alive. */
  async function use(lease: Lease): Promise<void> {
    const amount = 1 + Math.floor(platform.random() * 2)
    const permit = await insideOf(process, lease, signal).acquire('db', amount)
    if (signal.aborted) return
    using += amount
    usage.now += amount
    usage.most = Math.max(usage.most, usage.now)
    await sleep(platform, 20 + platform.random() * 300, signal)
    // Also when the process dies: a handler ends with its process.
    using -= amount
    usage.now -= amount
    if (!signal.aborted && platform.random() < 0.5) await permit.release()
    await sleep(platform, 20, signal)
  }

  async function run(lease: Lease): Promise<void> {
    running += 1
    try {
      await use(lease)
      if (signal.aborted) return
      await finish(lease, { to: 'done', result: null })
      usage.done += 1
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof Snooze)
        await finish(lease, { to: 'scheduled', delayMs: error.forMs, refund: true })
      else if (!isJobmillError(error) || error.code !== 'LEASE_LOST') throw error
    } finally {
      running -= 1
    }
    limits.ended(lease, null)
  }

  async function claim(): Promise<void> {
    const quarantine = running === 0 ? ['only', 'skip'] : ['skip']
    for (const which of quarantine as ('only' | 'skip')[]) {
      const room = SLOTS - running
      if (room === 0 || signal.aborted) return
      const request = { queues: [{ queue: 'default', room }], quarantined: which }
      for (const lease of await store.claim(aClaim(instance, request))) ends.push(run(lease))
    }
  }

  const ends: Promise<void>[] = []
  async function loop(): Promise<void> {
    await store.instances.register(anInstance({ id: instance, leaseMs: LEASE_MS }))
    while (!signal.aborted) {
      const { expired } = await store.instances.renew(
        aHeartbeat(instance, { leaseMs: LEASE_MS, renewEveryMs: 1_000 }),
      )
      if (expired) await store.instances.reap({ crashesUntilDead: 1_000, limit: 10 })
      await store.stage(100)
      await claim()
      await sleep(platform, 200, signal)
    }
  }
  ends.push(loop())
  return {
    die() {
      process.die()
      life.abort(new Error('killed'))
    },
    ended: () => Promise.all(ends),
    isUsing: () => using > 0,
  }
}

describe.each(PLACES)('P13 on $name: concurrency limits', { timeout: 180_000 }, ({ name, database }) => {
  test('many holders in three processes, some of which crash, never hold more permits than the limit', async () => {
    const it = await scene({ db: { concurrency: MOST } }, { database, processes: 3 })
    const { platform } = it
    const usage: Usage = { now: 0, most: 0, done: 0 }
    // On a database every step of the clock takes real time.
    const [jobs, deaths] = name === 'oracle' ? LONG : inFull(LONG, name === 'sqlite' ? SHORT : SHORTEST)
    await it.first.store.enqueue(Array.from({ length: jobs }, () => aJob()))
    const alive = it.processes.map((process) => runtime(process, platform, usage))
    const dead: typeof alive = []
    for (const afterMs of deaths) {
      await platform.advance(afterMs)
      // Kill one that holds permits: they must be neither granted before its lease expires nor lost.
      while (!alive.some((process) => process.isUsing())) await platform.advance(10)
      const [victim] = alive.splice(
        alive.findIndex((process) => process.isUsing()),
        1,
      )
      if (victim === undefined) throw new Error('one of them has permits')
      victim.die()
      dead.push(victim)
      alive.push(runtime(await it.another(), platform, usage))
    }
    for (let seconds = 0; usage.done < jobs && seconds < 180; seconds += 1) await platform.advance('1s')
    for (const process of alive) process.die()
    await Promise.all([...dead, ...alive].map((process) => process.ended()))
    expect(usage).toEqual({ now: 0, most: MOST, done: jobs })
    expect(await it.first.store.limits.list()).toMatchObject([{ held: 0, available: MOST }])
  })
})
