/**
 * A limit attached to a queue: its jobs are claimed when there is budget, at the times that the heartbeat
 * returns, and other queues are not delayed.
 */
import { describe, expect, test } from 'vitest'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../src/job/queue/queue-settings.ts'
import type { Heartbeat } from '../../src/store/types/instance.ts'
import type { Lease } from '../../src/store/types/claim.ts'
import { aClaim, aJob, anInstance, aHeartbeat } from '../../../conformance/src/index.ts'
import { type Place, PLACES } from './places.ts'
import { type Process, scene, type Scene } from './scene.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const RATE = 50

const queue = (name: string, limit: string | null) => ({
  name,
  settings: { ...DEFAULT_QUEUE_SETTINGS, limit },
})

/** An instance that serves a limited queue and an unlimited one. */
async function atWork(database: Place['database']): Promise<Scene> {
  const it = await scene({ smtp: { rate: RATE, per: '1m' } }, { database })
  const { store, instance } = it.first
  await store.queues.declare([queue('mail', 'smtp'), queue('other', null)])
  await store.instances.register(anInstance({ id: instance, queues: ['mail', 'other'], leaseMs: 2 * HOUR }))
  return it
}

const QUEUES = ['mail', 'other']
/** A queue whose budget has just been spent. */
const NEXT = { ready: false, budgetInMs: MINUTE / RATE }

const claimed = ({ store, instance }: Process): Promise<Lease[]> =>
  store.claim(aClaim(instance, { queues: QUEUES.map((name) => ({ queue: name, room: 10 })) }))

async function finished({ store }: Process, leases: readonly Lease[]): Promise<void> {
  const done = { outcome: 'returned', transition: { to: 'done', result: null } } as const
  await store.finish(leases.map(({ id, token }) => ({ id, token, ...done })))
}

const heartbeatOf = ({ store, instance }: Process): Promise<Heartbeat> =>
  store.instances.renew(aHeartbeat(instance, { queues: QUEUES, renewEveryMs: 2 * HOUR }))

async function enqueue({ store }: Process, name: string, many: number): Promise<void> {
  await store.enqueue(Array.from({ length: many }, () => aJob({ queue: name })))
}

/** The largest excess of any window of the claims over burst + rate × t; the burst is one. */
function mostOver(instants: readonly number[]): number {
  let most = Number.NEGATIVE_INFINITY
  for (const [from, began] of instants.entries())
    for (let to = from; to < instants.length; to += 1) {
      const windowMs = (instants[to] ?? 0) - began
      most = Math.max(most, to - from + 1 - (1 + (RATE * windowMs) / MINUTE))
    }
  return most
}

// The oracle reads every job at every claim, which is too slow for an hour.
const STORES = PLACES.filter(({ name }) => name !== 'oracle')

/**
 * Each claim is a transaction of several statements on a server: an hour of them takes most of a minute. The
 * arithmetic is the same.
 */
const MINUTES: Readonly<Record<string, number>> = { sqlite: inFull(60, 4), postgres: inFull(6, 1) }

describe.each(STORES)('P13 on $name: limited queues', ({ name, database }) => {
  const minutes = MINUTES[name] ?? 60
  test(
    `target 8: a queue limited to 50/min sustains that within 5% for ${minutes} minutes, with other kinds unaffected`,
    { timeout: 180_000 },
    async () => {
      const it = await atWork(database)
      const { platform, first } = it
      const from = platform.now()
      const instants: number[] = []
      const next: Pick<Heartbeat, 'ready' | 'budgetInMs'>[] = []
      for (let minute = 1; minute <= minutes; minute += 1) {
        await enqueue(first, 'mail', RATE + 10)
        const leases: Lease[] = []
        while (platform.now() < from + minute * MINUTE) {
          const mail = await claimed(first)
          leases.push(...mail)
          instants.push(...mail.map(() => platform.now()))
          // The answer never changes, so ten minutes are enough; the rest runs in half the time.
          const { ready, budgetInMs } = minute <= 10 ? await heartbeatOf(first) : NEXT
          next.push({ ready, budgetInMs })
          await platform.advance(budgetInMs ?? Number.NaN)
        }
        expect(leases.every((lease) => lease.queue === 'mail')).toBe(true)
        // Within 5%, in every single minute.
        expect(Math.abs(leases.length - RATE)).toBeLessThanOrEqual(0.05 * RATE)
        leases.push(...(await claimed(first)))
        instants.push(platform.now())
        // The budget of mail is spent. Other queues are claimed at once.
        await enqueue(first, 'other', 3)
        const others = await claimed(first)
        expect(others.map((lease) => `${lease.queue} ${lease.waitedMs}`)).toEqual(Array(3).fill('other 0'))
        await finished(first, [...leases, ...others])
      }
      expect(mostOver(instants)).toBeLessThanOrEqual(1e-6)
      expect(next.filter((one) => one.ready || one.budgetInMs !== NEXT.budgetInMs)).toEqual([])
    },
  )

  test('target 8: a 429 with Retry-After pauses the queue exactly that long, and no other queue', async () => {
    const it = await atWork(database)
    const { platform, first } = it
    await enqueue(first, 'mail', 10)
    expect(await claimed(first)).toHaveLength(1)
    await platform.advance(5_000)
    await first.limits.drain('smtp', { retryAfter: '30s' })
    for (const leftMs of [30_000, 17_000, 1]) {
      await enqueue(first, 'other', 1)
      expect((await claimed(first)).map((lease) => lease.queue)).toEqual(['other'])
      expect(await heartbeatOf(first)).toMatchObject({ ready: false, budgetInMs: leftMs })
      await platform.advance(leftMs === 30_000 ? 13_000 : leftMs === 17_000 ? 16_999 : 1)
    }
    expect((await heartbeatOf(first)).ready).toBe(true)
    expect(await claimed(first)).toMatchObject([{ queue: 'mail' }])
    // At the rate from here on, without a burst.
    expect(await claimed(first)).toEqual([])
    expect(await heartbeatOf(first)).toMatchObject({ ready: false, budgetInMs: 1_200 })
  })
})
