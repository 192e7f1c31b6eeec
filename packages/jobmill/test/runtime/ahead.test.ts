/**
 * Prefetch: how many jobs a mill claims before a worker is free, and what happens to them. Runs on both
 * stores.
 */
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { defineJob, type JobContext, type FullStore } from '../../src/index.ts'
import { type Faults, faultyStore } from '../../src/testing/index.ts'
import { happened, subjects } from './stores.ts'

const many = (count: number) => Array.from({ length: count }, (_, payload) => ({ payload }))

/** A job that returns at once, or, while `state.hold` is set, waits for `letGo`. */
function job() {
  const gates: (() => void)[] = []
  const state = { hold: false }
  const started: number[] = []
  const work = defineJob({
    kind: 'work',
    run: ({ payload }: JobContext<number>) => {
      started.push(payload)
      return state.hold ? new Promise<void>((resolve) => void gates.push(resolve)) : undefined
    },
  })
  return { work, state, started, letGo: () => gates.splice(0).forEach((open) => open()) }
}

function spied() {
  const made: (FullStore & Faults)[] = []
  const around = (store: FullStore): FullStore => {
    const faulty = faultyStore(store)
    made.push(faulty)
    return faulty
  }
  return { around, calls: () => made[0]?.calls('claim') ?? 0 }
}

describe.each(subjects)('prefetch on $name', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)
  test('P15 one worker runs a thousand quick jobs with a handful of claims', async () => {
    const { around, calls } = spied()
    const { work, started } = job()
    const mill = await create({ jobs: [work], queues: { default: { workers: 1, paused: true } } }, around)
    await mill.enqueueMany(work, many(1_000))
    const before = calls()
    await mill.resume('default')
    await mill.platform.advance('5s')
    expect(started).toEqual(many(1_000).map(({ payload }) => payload))
    expect(calls() - before).toBeLessThanOrEqual(10)
  })

  /** A mill whose only worker is held by a job, with more jobs prefetched behind it. */
  async function stuck() {
    const { work, state, started, letGo } = job()
    const mill = await create({ jobs: [work], queues: { default: { workers: 1 } } })
    await mill.enqueueMany(work, many(3))
    await mill.platform.settled()
    state.hold = true
    started.length = 0
    const jobs = await mill.enqueueMany(work, many(20))
    await mill.platform.settled()
    const running = async (): Promise<number> => (await mill.counts())[0]?.running ?? 0
    return { mill, jobs, started, letGo, state, running }
  }

  test('prefetched jobs that cannot start soon are released in order, and not claimed again until a worker is free', async () => {
    const { mill, started, letGo, state, running } = await stuck()
    expect(await running()).toBeGreaterThan(1)
    await mill.platform.advance(300)
    expect(await running()).toBe(1)
    await mill.platform.advance('5s')
    expect(await running()).toBe(1)
    expect(started).toEqual([0])
    state.hold = false
    letGo()
    await mill.platform.advance('5s')
    expect(started).toEqual(many(20).map(({ payload }) => payload))
    expect((await mill.list({ state: 'done' }, { limit: 50 })).jobs.every((one) => one.attempt === 1)).toBe(
      true,
    )
  })

  test('P7 a pause releases jobs that have not started, and interrupts none', async () => {
    const { mill, started, letGo, running } = await stuck()
    await mill.pause('default')
    await mill.platform.advance('1s')
    expect(await running()).toBe(1)
    letGo()
    await mill.platform.advance('5s')
    expect(started).toEqual([0])
    expect((await mill.counts())[0]).toMatchObject({ running: 0, ready: 19 })
  })

  test('P8 a job that is cancelled before it starts never starts', async () => {
    const { mill, jobs, started, letGo, state } = await stuck()
    const target = jobs[5]?.id ?? ''
    await mill.cancel(target, 'not needed')
    await mill.platform.settled()
    expect(await mill.get(target)).toMatchObject({ state: 'cancelled' })
    state.hold = false
    letGo()
    await mill.platform.advance('5s')
    expect(started).not.toContain(5)
    expect(started).toHaveLength(19)
    expect(happened(mill, target)).toContain('cancelled')
  })

  test('P6 a stop releases jobs that have not started at once', async () => {
    const { mill, jobs, letGo } = await stuck()
    const stopping = mill.stop()
    await mill.platform.settled()
    const released = jobs.filter(({ id }) => happened(mill, id).includes('released'))
    letGo()
    await mill.platform.advance('1s')
    const report = await stopping
    expect(released.length).toBeGreaterThan(0)
    expect(report).toMatchObject({ finished: 1, returned: released.length, interrupted: 0 })
  })
})
