// Leadership: one leader per duty, released at a stop, taken over when its process stops sending heartbeats.
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { defineJob } from '../../src/index.ts'
import type { TestMill } from '../../src/testing/index.ts'
import { rejection } from '../unit/support.ts'
import { NAMES, places } from './places.ts'

const quick = defineJob({ kind: 'quick', run: () => null })
const FOR_ALL = ['alert', 'rebalance', 'retain', 'roll-up', 'schedule']

async function leaders(mill: TestMill): Promise<Record<string, string | null>> {
  const duties = (await mill.duties()).filter(({ name }) => FOR_ALL.includes(name))
  return Object.fromEntries(duties.map(({ name, leader }) => [name, leader]))
}

const all = (leader: string | null): Record<string, string | null> =>
  Object.fromEntries(FOR_ALL.map((name) => [name, leader]))

describe.each(places)('leadership on %s', (name, fresh) => {
  const test = inTurns(name, NAMES)
  test('each duty has one leader, which resigns at a stop, and another one takes over within a second', async () => {
    const { mill, platform } = fresh()
    const first = await mill({ jobs: [quick] })
    await platform.advance('1s')
    const second = await mill({ jobs: [quick] })
    await platform.advance('5s')
    expect(await leaders(second)).toEqual(all(first.instance.id))
    await first.stop()
    expect(await leaders(second)).toEqual(all(null))
    await platform.advance('1s')
    expect(await leaders(second)).toEqual(all(second.instance.id))
    expect(second.events.filter(({ type }) => type === 'leading')).toHaveLength(FOR_ALL.length)
  })

  test('P16 a leader that goes silent is replaced within its time to live', async () => {
    const { mill, faultyMill, platform } = fresh()
    const [first, faults] = await faultyMill({ jobs: [quick] })
    await platform.advance('1s')
    const second = await mill({ jobs: [quick] })
    await platform.advance('5s')
    faults.fail('instances.renew', { times: Infinity })
    await platform.advance('7s')
    expect(await leaders(second)).toEqual(all(first.instance.id))
    await platform.advance('5s')
    expect(await leaders(second)).toEqual(all(second.instance.id))
    // The first process notices the loss on its own.
    expect(first.events.filter(({ type }) => type === 'led')).toHaveLength(FOR_ALL.length)
  })

  test('P16 every duty reports its last success and its failures', async () => {
    const { faultyMill, platform } = fresh()
    const [worker, faults] = await faultyMill({ jobs: [quick], retain: { every: '10s' } })
    await platform.advance('30s')
    const retain = async () => (await worker.duties()).find(({ name }) => name === 'retain')
    const before = await retain()
    expect(platform.now() - (before?.lastSuccessAt ?? 0)).toBeLessThanOrEqual(14_000)
    expect(before).toMatchObject({ failures: 0, here: { leading: true, failures: 0, error: null } })
    faults.fail('retain', { times: Infinity })
    await platform.advance('60s')
    const failing = await retain()
    expect(platform.now() - (failing?.lastSuccessAt ?? 0)).toBeGreaterThanOrEqual(45_000)
    expect(failing?.failures).toBeGreaterThanOrEqual(4)
    expect(failing?.here?.error).toContain('injected fault')
    expect(worker.events.filter(({ type }) => type === 'duty-failing')).toHaveLength(1)
    faults.clear()
    await platform.advance('30s')
    expect(await retain()).toMatchObject({ failures: 0 })
    expect(worker.events.filter(({ type }) => type === 'duty-back')).toHaveLength(1)
  })

  test('a pass can be run manually, and returns what it did', async () => {
    const { mill, platform } = fresh()
    const worker = await mill({ jobs: [quick], queues: { default: { retain: { done: '1m' } } } })
    await worker.enqueueMany(quick, [{ payload: null }, { payload: null }])
    await worker.drain()
    await platform.advance('2m')
    expect(await worker.runDuty('retain')).toMatchObject({ jobs: 2 })
    expect(await rejection(() => worker.runDuty('retian'))).toMatchObject({
      code: 'DUTY_UNKNOWN',
      fix: 'Did you mean "retain"?',
    })
    const client = await mill({ start: false })
    expect(await rejection(() => client.runDuty('retain'))).toMatchObject({ code: 'MILL_NOT_STARTED' })
    expect(await client.retain()).toMatchObject({ jobs: 0 })
    expect(await client.recover()).toEqual({ instances: 0, jobs: 0 })
  })

  test('P4 a manual recover reaps the jobs of a crashed process, even in a mill that never started', async () => {
    const { mill, faultyMill, platform } = fresh()
    const held = defineJob({
      kind: 'held',
      run: ({ signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', reject)),
    })
    const [victim, faults] = await faultyMill({ jobs: [held] })
    const { id } = await victim.enqueue(held, null)
    await platform.advance('1s')
    for (const verb of ['instances.renew', 'finish', 'instances.reap'] as const)
      faults.fail(verb, { times: Infinity })
    await platform.advance('11s')
    const client = await mill({ start: false })
    expect(await client.recover()).toEqual({ instances: 1, jobs: 1 })
    expect(await client.get(id)).toMatchObject({ state: 'ready', crashes: 1, attempt: 0 })
  })

  test('a duty with a hanging pass is led by another process after the lease', async () => {
    const { mill, platform } = fresh()
    const swept: string[] = []
    const never = Promise.withResolvers<void>()
    const sweeper = (who: string, hangs: boolean) =>
      mill({
        jobs: [quick],
        duties: [
          {
            name: 'sweep',
            every: '10s',
            deadline: '5s',
            async run() {
              swept.push(who)
              if (hangs) await never.promise
            },
          },
        ],
      })
    await sweeper('first', true)
    await platform.advance('1s')
    await sweeper('second', false)
    await platform.advance('40s')
    never.resolve()
    expect(swept.filter((who) => who === 'first')).toHaveLength(1)
    expect(swept.filter((who) => who === 'second').length).toBeGreaterThanOrEqual(2)
  })

  test('a duty of the application runs in one process for all, and in another when that stops', async () => {
    const { mill, platform } = fresh()
    const swept: string[] = []
    const sweeper = (who: string) =>
      mill({
        jobs: [quick],
        duties: [
          {
            name: 'sweep',
            every: '10s',
            async run() {
              swept.push(who)
              return { swept: 1 }
            },
          },
        ],
      })
    const first = await sweeper('first')
    await platform.advance('1s')
    await sweeper('second')
    await platform.advance('60s')
    expect(new Set(swept)).toEqual(new Set(['first']))
    expect(swept.length).toBeGreaterThanOrEqual(5)
    await first.stop()
    await platform.advance('30s')
    expect(swept.filter((who) => who === 'second').length).toBeGreaterThanOrEqual(2)
    expect(first.events.filter(({ type }) => type === 'duty-done').length).toBeGreaterThanOrEqual(5)
  })
})
