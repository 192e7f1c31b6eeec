/**
 * Direct dispatch: a job for a free worker of the process that enqueues it runs without a claim. Runs on both
 * stores.
 */
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { defineJob, type JobContext, type FullStore } from '../../src/index.ts'
import { type Faults, faultyStore } from '../../src/testing/index.ts'
import { happened, subjects } from './stores.ts'

const quick = defineJob({ kind: 'quick', run: () => 'done' })

/** A job that runs until the test releases it. */
function held() {
  const gates: (() => void)[] = []
  const order: unknown[] = []
  const job = defineJob({
    kind: 'held',
    run: ({ payload }: JobContext<number>) => {
      order.push(payload)
      return new Promise<void>((resolve) => void gates.push(resolve))
    },
  })
  return { job, order, letGo: () => gates.splice(0).forEach((open) => open()) }
}

function spied() {
  const made: (FullStore & Faults)[] = []
  const around = (store: FullStore): FullStore => {
    const faulty = faultyStore(store)
    made.push(faulty)
    return faulty
  }
  return {
    around,
    calls: (verb: keyof FullStore) => made[0]?.calls(verb as never) ?? 0,
    faults: () => made[0],
  }
}

describe.each(subjects)('direct dispatch on $name', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)
  test('P15 runs jobs on free workers without a claim', async () => {
    const { around, calls } = spied()
    const mill = await create({ jobs: [quick] }, around)
    await mill.platform.settled()
    const before = calls('claim')
    const jobs = [await mill.enqueue(quick, null), await mill.enqueue(quick, null)]
    await mill.platform.settled()
    for (const { id } of jobs) expect(happened(mill, id)).toEqual(['enqueued', 'started', 'finished'])
    expect(calls('claim') - before).toBe(0)
  })

  test('P1 the enqueue returns before the handler starts', async () => {
    const { job, order, letGo } = held()
    const mill = await create({ jobs: [job] })
    await mill.platform.settled()
    await mill.enqueue(job, 1)
    expect(order).toEqual([])
    await mill.platform.settled()
    expect(order).toEqual([1])
    letGo()
  })

  test('ready jobs go first: no new job overtakes them', async () => {
    const { job, order, letGo } = held()
    const mill = await create({ jobs: [job], queues: { default: { workers: 1 } } })
    await mill.platform.settled()
    for (const n of [1, 2, 3]) await mill.enqueue(job, n)
    for (let at = 0; at < 3; at += 1) {
      await mill.platform.settled()
      letGo()
    }
    await mill.platform.settled()
    expect(order).toEqual([1, 2, 3])
  })

  test('P3 P16 a job with a lost reply is found and run', async () => {
    const { around, faults } = spied()
    const mill = await create({ jobs: [quick] }, around)
    await mill.platform.settled()
    faults()?.loseReply('enqueue')
    const enqueued = mill.enqueue(quick, null)
    await mill.platform.advance('1s')
    const { id } = await enqueued
    await mill.platform.advance('20s')
    expect(await mill.get(id)).toMatchObject({ state: 'done', attempt: 1 })
    expect(happened(mill, id).filter((event) => event === 'finished')).toHaveLength(1)
  })

  test('P6 a dispatched job that has not started is released when the mill stops', async () => {
    const { job, order } = held()
    const mill = await create({ jobs: [job] })
    await mill.platform.settled()
    const { id } = await mill.enqueue(job, 1)
    const stopped = mill.stop({ grace: 0 })
    await mill.platform.settled()
    await mill.platform.advance('1s')
    await stopped
    expect(order).toEqual([])
    expect(happened(mill, id)).toContain('released')
  })

  test('P14 is not used for a kind without a handler here, which waits for another process', async () => {
    const mill = await create({ jobs: [quick] })
    await mill.platform.settled()
    const { id } = await mill.enqueue('elsewhere', null)
    await mill.platform.advance('2s')
    expect(await mill.get(id)).toMatchObject({ state: 'ready', attempt: 0 })
  })
})
