// A total of workers is split among the instances by their capacity, and again when one starts or stops.
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { defineJob } from '../../src/index.ts'
import type { TestMill } from '../../src/testing/index.ts'
import { type Cluster, NAMES, places } from './places.ts'

/** Runs until the test ends it; counts concurrent runs. */
function holding() {
  const { promise: gate, resolve: letGo } = Promise.withResolvers<void>()
  const job = defineJob({ kind: 'hold', run: ({ signal }) => Promise.race([gate, aborted(signal)]) })
  return { job, letGo }
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))

async function running(mills: readonly TestMill[]): Promise<number[]> {
  const counts = await Promise.all(
    mills.map(async (mill) => (await mill.store.instances.held(mill.instance.id)).length),
  )
  return counts
}

async function enough(mill: TestMill, job: ReturnType<typeof holding>['job'], jobs: number): Promise<void> {
  await mill.enqueueMany(
    job,
    Array.from({ length: jobs }, () => ({ payload: null })),
  )
}

const three = async ({ mill }: Cluster, capacities: readonly (number | undefined)[]) => {
  const { job, letGo } = holding()
  const mills: TestMill[] = []
  for (const capacity of capacities)
    mills.push(
      await mill({
        jobs: [job],
        queues: { default: { workers: 10 } },
        ...(capacity === undefined ? {} : { capacity }),
      }),
    )
  return { job, letGo, mills }
}

describe.each(places)('the workers of a queue on %s', (name, fresh) => {
  const test = inTurns(name, NAMES)
  test('are a total of the cluster: 10 over three instances are 4, 3 and 3', async () => {
    const cluster = fresh()
    const { job, mills } = await three(cluster, [undefined, undefined, undefined])
    await cluster.platform.advance('2s')
    await enough(mills[0] as TestMill, job, 50)
    await cluster.platform.advance('2s')
    expect((await running(mills)).toSorted((a, b) => a - b)).toEqual([3, 3, 4])
  })

  test('follow the capacity that each process declares', async () => {
    const cluster = fresh()
    const { job, mills } = await three(cluster, [5, 10, 35])
    await cluster.platform.advance('2s')
    await enough(mills[0] as TestMill, job, 50)
    await cluster.platform.advance('2s')
    expect(await running(mills)).toEqual([1, 2, 7])
  })

  test('P7 are split again when a process joins, without interrupting running jobs, and when one leaves', async () => {
    const cluster = fresh()
    const { job, mills, letGo } = await three(cluster, [undefined])
    const [first] = mills as [TestMill]
    await enough(first, job, 50)
    await cluster.platform.advance('2s')
    expect(await running([first])).toEqual([10])
    const second = await cluster.mill({ jobs: [job], queues: { default: { workers: 10 } } })
    await cluster.platform.advance('5s')
    // The new instance has its share; the other keeps its running jobs.
    expect(await running([first, second])).toEqual([10, 5])
    expect(first.events.filter(({ type }) => type === 'interrupted')).toEqual([])
    letGo()
    await first.stop()
    await cluster.platform.advance('2s')
    expect(
      (await second.store.instances.slots()).map(({ instance, workers }) => [instance, workers]),
    ).toEqual([[second.instance.id, 10]])
  })

  test('P4 move to the others within seconds when a process crashes', async () => {
    const cluster = fresh()
    const { job } = holding()
    const options = { jobs: [job], queues: { default: { workers: 10 } } }
    const [first, faults] = await cluster.faultyMill(options)
    const second = await cluster.mill(options)
    await cluster.platform.advance('2s')
    expect(await second.store.instances.slots()).toHaveLength(2)
    for (const verb of ['instances.renew', 'instances.register', 'claim'] as const)
      faults.fail(verb, { times: Infinity })
    await enough(second, job, 50)
    await cluster.platform.advance('14s')
    expect(await running([first, second])).toEqual([0, 10])
  })

  test('are written only when the split changes', async () => {
    const cluster = fresh()
    const [mill, faults] = await cluster.faultyMill({
      jobs: [holding().job],
      queues: { default: { workers: 10 } },
    })
    await cluster.platform.advance('5s')
    const assigned = (): number => faults.calls('instances.assign')
    expect(assigned()).toBe(1)
    await cluster.platform.advance('5m')
    expect(assigned()).toBe(1)
    await mill.changeQueue('default', { workers: 12 })
    await cluster.platform.advance('2s')
    expect(assigned()).toBe(2)
    expect(await mill.store.instances.slots()).toMatchObject([{ workers: 12 }])
    await mill.changeQueue('default', { workers: null })
    await cluster.platform.advance('2s')
    expect(await mill.store.instances.slots()).toEqual([])
  })

  test('a process runs no more jobs at once than its capacity, over all its queues', async () => {
    const cluster = fresh()
    const { job } = holding()
    const mill = await cluster.mill({ jobs: [job], serve: ['a', 'b', 'c'], capacity: 7 })
    for (const queue of ['a', 'b', 'c'])
      await mill.enqueueMany(
        job,
        Array.from({ length: 20 }, () => ({ payload: null, queue })),
      )
    await cluster.platform.advance('2s')
    expect(await running([mill])).toEqual([7])
  })
})
