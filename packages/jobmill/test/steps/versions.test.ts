/** P14 P17: a job with steps runs only in processes with the version of its first step, or a later one. */
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { defineJob } from '../../src/index.ts'
import { type TestMill, testMill } from '../../src/testing/index.ts'
import { lent, subjects } from '../runtime/stores.ts'

const onboard = (version: number | undefined, ran: string[]) =>
  defineJob({
    kind: 'onboard',
    ...(version !== undefined && { version }),
    async run({ step }) {
      ran.push(`starts in ${version}`)
      await step.run(`account of ${version}`, () => {})
      await step.sleep('wait', '1m')
      return version
    },
  })

/** Another process with another release of the code, on the same database. */
const beside = (mill: TestMill, version: number | undefined, ran: string[]): Promise<TestMill> =>
  testMill({ store: () => lent(mill), platform: mill.platform, jobs: [onboard(version, ran)] })

describe.each(subjects)('versions on $name', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)

  test('P14 P17 a job that recorded a step in version 3 continues only in version 3 or later', async () => {
    const ran: string[] = []
    const [first, other] = [onboard(3, ran), onboard(undefined, ran)]
    const mill = await create({ jobs: [first] })
    const { id } = await mill.enqueue(first, null)
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'scheduled', kind: 'onboard', minVersion: 3 })
    await mill.quietInstance(mill.instance.id)
    await mill.clock.advance('2m')

    for (const version of [undefined, 2]) {
      const old = await beside(mill, version, ran)
      await old.drain()
      const why = await old.why(id)
      expect(why?.reasons.map(({ message }) => message)).toContain(
        'No running process that serves queue default handles kind onboard in version 3 or later',
      )
      // New jobs run in every version.
      const { id: fresh } = await old.enqueue(other, null)
      await old.drain()
      expect((await old.get(fresh))?.state).toBe('scheduled')
      await old.cancel(fresh)
      await old.stop({ grace: 0 })
    }
    expect(await mill.get(id)).toMatchObject({ state: 'ready' })

    const later = await beside(mill, 4, ran)
    await later.drain()
    expect(await later.get(id)).toMatchObject({ state: 'done', result: 4, minVersion: 3 })
    await later.stop({ grace: 0 })
    expect(ran).toEqual(['starts in 3', 'starts in undefined', 'starts in 2', 'starts in 4'])
  })

  test('P14 kinds, processes and events name the kind without its versions', async () => {
    const job = onboard(2, [])
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    await mill.drain({ scheduled: true })
    expect((await mill.kinds()).map(({ kind }) => kind)).toEqual(['onboard'])
    expect(
      (await mill.instances()).map(({ kinds }) => kinds.filter((kind) => kind.startsWith('onboard'))),
    ).toEqual([['onboard']])
    const named = mill.events.flatMap((event) => ('kind' in event && 'id' in event ? [event.kind] : []))
    expect(new Set(named)).toEqual(new Set(['onboard']))
    expect((await mill.list({ kind: 'onboard' })).jobs.map((one) => one.id)).toEqual([id])
  })

  test('P14 P17 a fork needs the version of its steps', async () => {
    const job = onboard(3, [])
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    await mill.drain({ scheduled: true })
    const copy = await mill.fork(id, { from: 'wait' })
    expect(await mill.get(copy.id)).toMatchObject({ kind: 'onboard', minVersion: 3 })
    await mill.drain({ scheduled: true })
    expect(await mill.get(copy.id)).toMatchObject({ state: 'done', result: 3 })
  })

  test('P14 a job that calls no step keeps no version', async () => {
    const job = defineJob({ kind: 'plain', version: 3, run: () => 'done' })
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'done', minVersion: null })
  })
})
