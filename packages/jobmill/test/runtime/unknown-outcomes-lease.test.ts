// An instance that cannot renew its leases: it stops its jobs at the end of the lease, claims nothing, and
// recovers on its own.
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { defineJob, type EventType, isInterruption, type JobContext } from '../../src/index.ts'
import type { TestMill } from '../../src/testing/index.ts'
import { faultyMill, places } from './places.ts'

const FOREVER = { times: Number.POSITIVE_INFINITY }

/** The first run waits for its signal, later runs return at once. `why` records the reason of the signal. */
function patient(kind: string) {
  const why: unknown[] = []
  let runs = 0
  const job = defineJob({
    kind,
    run({ signal }: JobContext<null>) {
      runs += 1
      if (runs > 1) return runs
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => {
          const reason: unknown = signal.reason
          why.push(isInterruption(reason) ? reason.why : reason)
          reject(signal.reason as Error)
        }),
      )
    },
  })
  return { job, why, runs: () => runs }
}

const count = ({ events }: TestMill, type: EventType): number =>
  events.filter((event) => event.type === type).length

describe.each(places)('an instance that cannot renew, on $name', ({ name, create }) => {
  const test = inTurns(name, places)
  const at = create()

  test('P2 releases jobs of a claim that returns after the lease expired, and does not start them', async () => {
    const { job, runs } = patient('late')
    const mill = await faultyMill(at, { jobs: [job], route: () => 'late' })
    // A delayed job is claimed, not dispatched directly.
    const { id } = await mill.enqueue(job, null, { delay: '5s' })
    await mill.platform.advance('3s')
    const answer = mill.store.holdReply('claim')
    await mill.platform.advance('3s')
    await answer.reached
    expect(await mill.get(id)).toMatchObject({ state: 'running' })
    mill.store.fail('instances.renew', FOREVER)
    await mill.platform.advance('15s')
    expect(count(mill, 'instance-lost')).toBe(1)
    answer.release()
    await mill.platform.advance('2s')
    expect(runs()).toBe(0)
    expect(await mill.get(id)).toMatchObject({ state: 'ready', attempt: 0 })
    mill.store.clear()
    await mill.platform.advance('3s')
    expect(runs()).toBe(1)
  })

  test('P16 fires lease-lost when its lease expires, claims nothing until it has renewed, and then continues', async () => {
    const { job, why, runs } = patient('patient')
    const mill = await faultyMill(at, { jobs: [job], route: () => 'quarantined' })
    const { id } = await mill.enqueue(job, null)
    await mill.platform.advance('1s')
    mill.store.fail('instances.renew', FOREVER)
    await mill.platform.advance('6s')
    expect([why, count(mill, 'instance-lost')]).toEqual([[], 0])
    await mill.platform.advance('4s')
    expect(why).toEqual(['lease-lost'])
    expect(mill.events.filter(({ type }) => type === 'instance-lost')).toMatchObject([{ jobs: 1 }])
    // The job is released without spending an attempt, because no other instance has claimed it.
    expect(await mill.get(id)).toMatchObject({ state: 'ready', attempt: 0, crashes: 0 })
    const claims = mill.store.calls('claim')
    const later = await mill.enqueue(job, null)
    mill.wake()
    await mill.platform.advance('30s')
    expect([mill.store.calls('claim'), runs()]).toEqual([claims, 1])
    mill.store.clear()
    await mill.platform.advance('2s')
    expect([count(mill, 'instance-lost'), count(mill, 'instance-back')]).toEqual([1, 1])
    expect(await mill.get(id)).toMatchObject({ state: 'done', attempt: 1, crashes: 0 })
    expect(await mill.get(later.id)).toMatchObject({ state: 'done', attempt: 1 })
  })

  test('P2 P16 does not write outcomes of jobs that another instance took over, reports each once, and recovers', async () => {
    const started = Promise.withResolvers<void>()
    const end = Promise.withResolvers<string>()
    const stubborn = defineJob({
      kind: 'stubborn',
      run() {
        started.resolve()
        return end.promise
      },
    })
    const mill = await faultyMill(at, { jobs: [stubborn], route: () => 'taken' })
    const { id } = await mill.enqueue(stubborn, null)
    await started.promise
    mill.store.fail('instances.renew', FOREVER)
    const quick = defineJob({ kind: 'stubborn', run: () => 'by the other' })
    const other = await at.mill({ jobs: [quick], route: () => 'taken', platform: mill.platform })
    await mill.platform.advance('12s')
    expect(await other.get(id)).toMatchObject({ state: 'done', result: 'by the other', crashes: 1 })
    expect(count(other, 'reaped')).toBe(1)
    end.resolve('too late')
    await mill.platform.advance('1s')
    expect(count(mill, 'lease-lost')).toBe(1)
    expect(await other.get(id)).toMatchObject({ result: 'by the other' })
    expect(count(mill, 'instance-back')).toBe(0)
    await other.stop()
    mill.store.clear()
    await mill.platform.advance('2s')
    expect(count(mill, 'instance-back')).toBe(1)
    const [me] = (await mill.instances()).filter((one) => one.id === mill.instance.id)
    expect(me).toMatchObject({ state: 'alive' })
    // D6: the process was alive, so the crash does not count.
    expect(await mill.get(id)).toMatchObject({ state: 'done', crashes: 0 })
    const next = await mill.enqueue(stubborn, null)
    await mill.platform.advance('1s')
    expect(await mill.get(next.id)).toMatchObject({ state: 'done', result: 'too late' })
  })

  test('P7 D low handlers that continue after the lease was lost keep their workers, and no more run than there are workers', async () => {
    const end = Promise.withResolvers<void>()
    let [running, most] = [0, 0]
    const stubborn = defineJob({
      kind: 'stubborn',
      async run() {
        running += 1
        most = Math.max(most, running)
        await end.promise
        running -= 1
      },
    })
    const queues = { two: { workers: 2 } }
    const mill = await faultyMill(at, { jobs: [stubborn], route: () => 'two', queues })
    for (let n = 0; n < 5; n += 1) await mill.enqueue(stubborn, null)
    await mill.platform.advance('1s')
    expect(running).toBe(2)
    for (let times = 0; times < 2; times += 1) {
      mill.store.fail('instances.renew', FOREVER)
      await mill.platform.advance('12s')
      await mill.store.instances.reap({ crashesUntilDead: 9, limit: 10 })
      mill.store.clear()
      await mill.platform.advance('20s')
      expect([running, most, count(mill, 'instance-back')]).toEqual([2, 2, times + 1])
    }
    end.resolve()
    await mill.platform.advance('5s')
    expect((await mill.counts()).find(({ queue }) => queue === 'two')).toMatchObject({ done: 5 })
    expect(most).toBe(2)
  })

  test('P16 an instance that cannot register again holds no job until it can', async () => {
    const { job, why } = patient('again')
    const mill = await faultyMill(at, { jobs: [job], route: () => 'again' })
    const { id } = await mill.enqueue(job, null)
    await mill.platform.advance('1s')
    mill.store.fail('instances.renew', FOREVER)
    const other = await at.mill({ serve: ['elsewhere'], platform: mill.platform })
    await mill.platform.advance('12s')
    expect(why).toEqual(['lease-lost'])
    mill.store.clear()
    mill.store.fail('instances.register', FOREVER)
    await mill.platform.advance('5s')
    expect(await mill.get(id)).toMatchObject({ state: 'ready' })
    expect(count(mill, 'instance-back')).toBe(0)
    mill.store.clear()
    await mill.platform.advance('2s')
    expect(count(mill, 'instance-back')).toBe(1)
    expect(await mill.get(id)).toMatchObject({ state: 'done' })
    await other.stop()
  })
})
