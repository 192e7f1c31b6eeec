// Target 12: operators can change settings at run time, and a deploy does not undo them.
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { defineJob } from '../../src/index.ts'
import type { TestMill } from '../../src/testing/index.ts'
import { NAMES, places } from './places.ts'

const quick = defineJob({ kind: 'quick', run: () => null })

const done = async (mill: TestMill): Promise<number> =>
  (await mill.counts()).reduce((sum, count) => sum + count.done, 0)

describe.each(places)('without a rebuild, on %s', (name, fresh) => {
  const test = inTurns(name, NAMES)
  test('P12 target 12: another process can add, change, pause and delete a schedule', async () => {
    const { mill, platform } = fresh()
    const worker = await mill({ jobs: [quick] })
    const operator = await mill({ start: false })
    await operator.schedules.create({ name: 'often', job: 'quick', when: 'every 10s' })
    await platform.advance('65s')
    expect(await done(worker)).toBe(6)
    await operator.schedules.change('often', { when: 'every 1s' })
    await platform.advance('11s')
    const after = await done(worker)
    expect(after).toBeGreaterThanOrEqual(15)
    await operator.schedules.pause('often')
    await platform.advance('1m')
    const paused = await done(worker)
    expect(paused - after).toBeLessThanOrEqual(1)
    await operator.schedules.resume('often')
    await platform.advance('5s')
    expect(await done(worker)).toBeGreaterThan(paused)
    await operator.schedules.delete('often')
    await platform.advance('2s')
    const deleted = await done(worker)
    await platform.advance('1m')
    expect(await done(worker)).toBe(deleted)
  }, 60_000)

  test('P13 target 12: a limit can be created, attached to a queue, changed and removed', async () => {
    const { mill, platform } = fresh()
    const worker = await mill({ jobs: [quick], queues: { default: { workers: 10 } } })
    const operator = await mill({ start: false })
    await operator.limits.create('slow', { rate: 1, per: '5s' })
    await operator.changeQueue('default', { limit: 'slow' })
    await platform.advance('1s')
    await operator.enqueueMany(
      quick,
      Array.from({ length: 200 }, () => ({ payload: null })),
    )
    await platform.advance('30s')
    const slow = await done(worker)
    expect(slow).toBeGreaterThanOrEqual(6)
    expect(slow).toBeLessThanOrEqual(8)
    await operator.limits.change('slow', { rate: 10, per: '5s' })
    await platform.advance('30s')
    const faster = (await done(worker)) - slow
    expect(faster).toBeGreaterThanOrEqual(57)
    expect(faster).toBeLessThanOrEqual(63)
    await operator.changeQueue('default', { limit: null })
    await platform.advance('2s')
    expect(await done(worker)).toBe(200)
    expect(await operator.limits.delete('slow')).toBe(true)
  }, 60_000)

  test('target 12: workers, backoff, retention and cool-downs of a queue can be changed', async () => {
    const { mill, platform } = fresh()
    const worker = await mill({ jobs: [quick], queues: { default: { workers: 3, retain: { done: '7d' } } } })
    const operator = await mill({ start: false })
    await operator.changeQueue('default', {
      workers: 5,
      backoff: { base: '1s', max: '2s' },
      retain: { done: { for: '1m', most: 2 } },
      coolFor: '5s',
    })
    await operator.enqueueMany(
      quick,
      Array.from({ length: 5 }, () => ({ payload: null })),
    )
    await platform.advance('4s')
    expect(await done(worker)).toBe(0)
    await platform.advance('2s')
    expect(await done(worker)).toBe(5)
    await operator.retain()
    expect(await done(worker)).toBe(2)
    await platform.advance('61s')
    await operator.retain()
    expect(await done(worker)).toBe(0)
    // After a restart, code does not revert the operator's change.
    const again = await mill({ jobs: [quick], queues: { default: { workers: 3, retain: { done: '7d' } } } })
    expect((await again.queues())[0]).toMatchObject({ workers: 5, retainDoneMs: 60_000, keepDone: 2 })
  }, 60_000)
})
