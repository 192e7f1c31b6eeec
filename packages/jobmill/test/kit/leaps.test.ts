// The clock of `testMill` passes days at once, and everything in them happens at its own time.
import { describe, expect, test } from 'vitest'
import { defineJob } from '../../src/index.ts'
import { sqlite } from '../../src/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { ALL_VERBS, aroundVerbs } from '../../src/store/verbs.ts'
import { testMill } from '../../src/testing/index.ts'
import { rejection } from '../unit/support.ts'
import { echo } from './support.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** A store that counts the calls of each verb. */
function counted() {
  const calls = new Map<string, number>()
  const store = ({ now }: { readonly now: () => number }): Store =>
    aroundVerbs(sqlite(':memory:', { clock: now }), ALL_VERBS, (verb, call) => (...args) => {
      calls.set(verb, (calls.get(verb) ?? 0) + 1)
      return call(...args)
    })
  return { store, heartbeats: () => calls.get('instances.renew') ?? 0 }
}

describe('a leap of the clock', () => {
  test('passes the sleeps, timeouts and children of a job in one drain', async () => {
    const child = defineJob({
      kind: 'child',
      async run({ step }) {
        await step.sleep('rest', '2d')
        return 'child'
      },
    })
    const at: number[] = []
    const parent = defineJob({
      kind: 'parent',
      async run({ step, now }) {
        at.push(now())
        await step.sleep('first', '3d')
        const answer = await step.waitForEvent('survey', { timeout: '14d' })
        return { answer, child: await step.child('report', child) }
      },
    })
    const { store, heartbeats } = counted()
    await using mill = await testMill({ jobs: [parent, child], store })
    const began = mill.clock.now()
    const { id } = await mill.enqueue(parent, null)
    await mill.drain({ scheduled: true })
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: { answer: null, child: 'child' } })
    expect(at.map((ms) => (ms - began) / DAY)).toEqual([0, 3, 17, 19])
    expect(heartbeats()).toBeLessThan(100)
    // The instance kept its lease.
    expect(mill.events.map(({ type }) => type)).not.toContain('instance-lost')
    expect(await mill.instances()).toMatchObject([{ state: 'alive' }])
  })

  test('stops at each due job, schedule, duty and timeout', async () => {
    const at: string[] = []
    const { store, heartbeats } = counted()
    const passes: number[] = []
    let began = 0
    const note = (name: string, now: number): void => {
      at.push(`${name} ${Math.round((now - began) / HOUR)}`)
    }
    const job = defineJob({ kind: 'later', run: ({ now }) => note('job', now()) })
    await using mill = await testMill({
      jobs: [job, echo],
      store,
      // With its jitter, between 9 and 11 hours.
      duties: [{ name: 'mine', every: '10h', run: async () => void passes.push(mill.clock.now()) }],
    })
    began = mill.clock.now()
    await mill.enqueue(job, null, { delay: '5h' })
    const never = await mill.enqueue(echo, { n: 1 }, { delay: '30d' })
    const late = rejection(() => never.result({ timeout: '7h' })).then(() =>
      note('timeout', mill.clock.now()),
    )
    await mill.clock.advance('12h')
    await late
    expect(at).toEqual(['job 5', 'timeout 7'])
    expect(passes).toHaveLength(2)
    expect((passes[1] ?? 0) - began).toBeLessThan(11 * HOUR)
    expect(mill.clock.now()).toBe(began + 12 * HOUR)
    expect(heartbeats()).toBeLessThan(200)
  })

  test('runs each tick of a schedule at its own time', async () => {
    await using mill = await testMill({ jobs: [echo] })
    const began = mill.clock.now()
    await mill.schedules.create({ name: 'hourly', job: echo, when: 'every 1h', payload: { n: 1 } })
    await mill.clock.advance('2d')
    const ticks = await mill.store.schedules.ticks('hourly', 100)
    expect(ticks).toHaveLength(48)
    for (const { at, servedAt } of ticks) expect(servedAt - at).toBeLessThan(2_000)
    expect(mill.clock.now()).toBe(began + 2 * DAY)
  })

  test('keeps the leases of all mills on the clock', async () => {
    await using first = await testMill({ jobs: [echo] })
    await using second = await testMill({ jobs: [echo], platform: first.platform, store: () => first.store })
    await first.clock.advance('3d')
    expect(await second.instances()).toMatchObject([{ state: 'alive' }, { state: 'alive' }])
    const job = await second.enqueue(echo, { n: 1 })
    expect(await job.result()).toBe(1)
  })

  test('deletes what retention no longer keeps', async () => {
    await using mill = await testMill({ jobs: [echo] })
    const { id } = await mill.enqueue(echo, { n: 1 })
    await mill.drain()
    await mill.clock.advance('6d')
    expect(await mill.get(id)).not.toBeNull()
    await mill.clock.advance('2d')
    expect(await mill.get(id)).toBeNull()
  })
})
