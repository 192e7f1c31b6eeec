// P12: each planned instant fires once, across several processes, lost replies and clock changes.
import { describe, expect, test as testOnBoth } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import type { Transition } from '../../src/store/types/finish.ts'
import type { FullStore } from '../../src/store/store.ts'
import { aClaim, anInstance } from '../../../conformance/src/index.ts'
import { allJobs, benches } from './schedules-bench.ts'

const hourly = { name: 'hourly', job: 'work', when: '0 * * * *' } as const

/** Claims the ready job and ends it with the given transition. */
async function runOne(
  store: FullStore,
  transition: Transition,
  queue = 'queue-of-work',
): Promise<string | null> {
  const instance = anInstance({ queues: [queue] })
  await store.instances.register(instance)
  const [lease] = await store.claim(aClaim(instance.id, { queues: [{ queue, room: 1 }], limit: 1 }))
  if (lease === undefined) return null
  const { id, token } = lease
  await store.finish([
    { id, token, transition, outcome: transition.to === 'done' ? 'returned' : 'failed', error: 'no' },
  ])
  await store.instances.deregister(instance.id)
  return id
}

describe.each(benches)('schedules on %s', (name, bench) => {
  const test = inTurns(
    name,
    benches.map(([place]) => place),
  )

  describe('one job for each tick', () => {
    // The transactions of two processes meet in the store.
    testOnBoth('P12 target 10: with two leaders that serve at once, repeatedly', async () => {
      const { clock, process, planned } = bench()
      clock.set('2026-02-01T00:30:00Z')
      const [one, other] = [await process(), await process()]
      await one.deploy(
        hourly,
        { ...hourly, name: 'quarantined', overlap: 'skip' },
        { ...hourly, name: 'all', missed: 'all' },
      )
      await Promise.all([one.serve(), other.serve()])
      for (let hour = 1; hour <= 12; hour += 1) {
        clock.set(`2026-02-01T${String(hour).padStart(2, '0')}:00:01Z`)
        await Promise.all([one.serve(), other.serve(), one.serve(), other.serve()])
      }
      const instants = Array.from(
        { length: 12 },
        (__, n) => `2026-02-01T${String(n + 1).padStart(2, '0')}:00:00Z`,
      )
      // The schedule that does not overlap enqueues only its first job, because no worker runs it.
      expect(await planned(one.store)).toEqual(['2026-02-01T01:00:00Z', ...instants, ...instants].toSorted())
      for (const { name } of await one.schedules.list())
        expect((await one.schedules.history(name)).map((tick) => tick.at)).toEqual(
          instants.map((iso) => Date.parse(iso)).toReversed(),
        )
    })

    testOnBoth('P12 even for hundreds of missed ticks that two processes make up for at once', async () => {
      const { clock, process, planned } = bench()
      clock.set('2026-02-01T00:00:00Z')
      const [one, other] = [await process(), await process()]
      await one.deploy({ ...hourly, when: '* * * * *', missed: 'all' })
      clock.set('2026-02-01T05:00:00Z')
      await Promise.all([one.serve(), other.serve()])
      const schedules = await planned(one.store)
      expect([schedules.length, new Set(schedules).size]).toEqual([300, 300])
    })

    test('P12 target 10: after a tick with a lost reply', async () => {
      const { clock, process, planned } = bench()
      clock.set('2026-02-01T00:30:00Z')
      const [one, other] = [await process(), await process()]
      await one.deploy(hourly)
      await one.serve()
      clock.set('2026-02-01T01:00:00Z')
      one.store.loseReply('schedules.tick')
      expect(await one.serve()).toMatchObject({ failed: 0, queues: ['queue-of-work'] })
      await other.serve()
      expect(await planned(one.store)).toEqual(['2026-02-01T01:00:00Z'])
      expect(await other.schedules.get('hourly')).toMatchObject({ error: null, lastOutcome: 'enqueued' })
    })

    test('P12 target 10: if a delayed tick arrives after another leader has served', async () => {
      const { clock, process, planned } = bench()
      clock.set('2026-02-01T00:30:00Z')
      const [slow, other] = [await process(), await process()]
      await slow.deploy(hourly)
      await slow.serve()
      clock.set('2026-02-01T01:00:00Z')
      const held = slow.store.hold('schedules.tick')
      const serving = slow.serve()
      await held.reached
      await other.serve()
      clock.set('2026-02-01T02:00:00Z')
      await other.serve()
      held.release()
      await serving
      expect(await planned(slow.store)).toEqual(['2026-02-01T01:00:00Z', '2026-02-01T02:00:00Z'])
      expect(await slow.schedules.get('hourly')).toMatchObject({ nextAt: Date.parse('2026-02-01T03:00:00Z') })
    })

    test('P12 target 10: if the clock steps back, and if the schedule is replanned then', async () => {
      const { clock, process, planned } = bench()
      clock.set('2026-02-01T00:30:00Z')
      const one = await process()
      await one.deploy(hourly)
      await one.serve()
      clock.set('2026-02-01T01:00:00Z')
      await one.serve()
      clock.set('2026-02-01T00:10:00Z')
      expect(await one.serve()).toMatchObject({ fired: 0 })
      clock.set('2026-02-01T01:00:05Z')
      expect(await one.serve()).toMatchObject({ fired: 0 })
      // Replanning from a clock that is behind plans the same instant again, but does not fire it again.
      clock.set('2026-02-01T00:10:00Z')
      await one.schedules.pause('hourly')
      await one.schedules.resume('hourly')
      await one.serve()
      expect(await one.schedules.get('hourly')).toMatchObject({ nextAt: Date.parse('2026-02-01T01:00:00Z') })
      clock.set('2026-02-01T01:00:05Z')
      expect(await one.serve()).toMatchObject({ fired: 0 })
      clock.set('2026-02-01T02:00:00Z')
      expect(await one.serve()).toMatchObject({ fired: 1 })
      expect(await planned(one.store)).toEqual(['2026-02-01T01:00:00Z', '2026-02-01T02:00:00Z'])
    })

    test('P12 even if the schedule is deleted and created again', async () => {
      const { clock, process, planned } = bench()
      clock.set('2026-02-01T00:30:00Z')
      const one = await process()
      await one.schedules.create(hourly)
      await one.serve()
      clock.set('2026-02-01T01:00:00Z')
      await one.serve()
      await one.schedules.delete('hourly')
      clock.set('2026-02-01T00:59:00Z')
      await one.schedules.create(hourly)
      await one.serve()
      clock.set('2026-02-01T01:00:10Z')
      expect(await one.serve()).toMatchObject({ fired: 0 })
      expect(await planned(one.store)).toEqual(['2026-02-01T01:00:00Z'])
    })
  })

  describe('clock changes', () => {
    test.each([
      [
        '30 2 * * *',
        '2026-03-28T12:00:00Z',
        '2026-03-30T12:00:00Z',
        ['2026-03-29T01:00:00Z', '2026-03-30T00:30:00Z'],
      ],
      [
        '30 2 * * *',
        '2026-10-24T12:00:00Z',
        '2026-10-26T12:00:00Z',
        ['2026-10-25T00:30:00Z', '2026-10-26T01:30:00Z'],
      ],
      [
        '*/30 1-3 * * *',
        '2026-03-28T23:30:00Z',
        '2026-03-29T03:00:00Z',
        ['2026-03-29T00:00:00Z', '2026-03-29T00:30:00Z', '2026-03-29T01:00:00Z', '2026-03-29T01:30:00Z'],
      ],
      [
        '0 * * * *',
        '2026-10-24T23:30:00Z',
        '2026-10-25T03:30:00Z',
        ['2026-10-25T00:00:00Z', '2026-10-25T01:00:00Z', '2026-10-25T02:00:00Z', '2026-10-25T03:00:00Z'],
      ],
      [
        'every 45m',
        '2026-03-29T00:00:00Z',
        '2026-03-29T02:30:00Z',
        ['2026-03-29T00:45:00Z', '2026-03-29T01:30:00Z', '2026-03-29T02:15:00Z'],
      ],
    ])('P12 %s in Paris from %s', async (when, from, until, expected) => {
      const { clock, process, planned } = bench()
      clock.set(from)
      const one = await process()
      await one.deploy({ name: 'paris', job: 'work', when, zone: 'Europe/Paris', missed: 'skip' })
      await one.serve()
      for (let now = Date.parse(from); now <= Date.parse(until); now += 5 * 60_000) {
        clock.set(new Date(now).toISOString())
        await one.serve()
      }
      expect(await planned(one.store)).toEqual(expected)
    })
  })

  describe('missed ticks', () => {
    test.each([
      ['skip', [], 9],
      ['last', ['2026-02-01T09:00:00Z'], 8],
      [{ all: '3h' }, ['2026-02-01T07:00:00Z', '2026-02-01T08:00:00Z', '2026-02-01T09:00:00Z'], 6],
    ] as const)('P12 %j, after a night without a process', async (missed, expected, dropped) => {
      const { clock, process, planned } = bench()
      clock.set('2026-02-01T00:30:00Z')
      const one = await process()
      await one.deploy({ ...hourly, missed })
      await one.serve()
      clock.set('2026-02-01T09:30:00Z')
      expect(await one.serve()).toMatchObject({ fired: expected.length, missed: dropped })
      expect(await planned(one.store)).toEqual(expected)
      expect(await one.schedules.get('hourly')).toMatchObject({
        missedRuns: dropped,
        nextAt: Date.parse('2026-02-01T10:00:00Z'),
      })
    })

    test('P12 of a schedule that was declared but not planned count from its declaration', async () => {
      const { clock, process, planned } = bench()
      clock.set('2026-02-01T00:30:00Z')
      const one = await process()
      await one.deploy({ ...hourly, missed: 'all' })
      clock.set('2026-02-01T03:30:00Z')
      await one.serve()
      expect(await planned(one.store)).toHaveLength(3)
    })

    test('P12 during a pause are not made up for', async () => {
      const { clock, process, planned } = bench()
      clock.set('2026-02-01T00:30:00Z')
      const one = await process()
      await one.deploy({ ...hourly, missed: 'all' })
      await one.serve()
      await one.schedules.pause('hourly')
      clock.set('2026-02-01T05:30:00Z')
      expect(await one.serve()).toMatchObject({ fired: 0, missed: 0 })
      await one.schedules.resume('hourly')
      await one.serve()
      clock.set('2026-02-01T06:00:00Z')
      await one.serve()
      expect(await planned(one.store)).toEqual(['2026-02-01T06:00:00Z'])
    })
  })

  describe('overlap: skip', () => {
    test('P12 enqueues nothing while a job is ready, running, or waiting for its next attempt', async () => {
      const { clock, process, planned } = bench()
      clock.set('2026-02-01T00:30:00Z')
      const one = await process()
      await one.deploy({ ...hourly, overlap: 'skip' })
      await one.serve()
      const hour = async (n: number) => {
        clock.set(`2026-02-01T0${n}:00:00Z`)
        return one.serve()
      }
      expect(await hour(1)).toMatchObject({ fired: 1 })
      const [first] = await allJobs(one.store)
      expect(await hour(2)).toMatchObject({ fired: 0, skipped: 1 })
      // The job fails and is due again much later, so it still blocks the next ticks.
      expect(await runOne(one.store, { to: 'scheduled', delayMs: 10 * 3_600_000, refund: false })).toBe(
        first?.id,
      )
      expect(await hour(3)).toMatchObject({ fired: 0, skipped: 1 })
      expect(await one.schedules.get('hourly')).toMatchObject({ lastOutcome: 'skipped', lastJob: first?.id })
      expect(await one.schedules.trigger('hourly')).toEqual({ outcome: 'skipped', job: first?.id })
      await one.store.runNow([first?.id ?? ''])
      expect(await runOne(one.store, { to: 'done', result: null })).toBe(first?.id)
      expect(await hour(4)).toMatchObject({ fired: 1, skipped: 0 })
      expect(await planned(one.store)).toEqual(['2026-02-01T01:00:00Z', '2026-02-01T04:00:00Z'])
      // A dead job does not block the next ticks.
      await runOne(one.store, { to: 'dead' })
      expect(await hour(5)).toMatchObject({ fired: 1 })
      expect((await one.schedules.history('hourly')).map(({ outcome }) => outcome)).toEqual([
        'enqueued',
        'enqueued',
        'skipped',
        'skipped',
        'enqueued',
      ])
    })

    test('P12 allow: jobs accumulate', async () => {
      const { clock, process, planned } = bench()
      clock.set('2026-02-01T00:30:00Z')
      const one = await process()
      await one.deploy(hourly)
      await one.serve()
      for (const n of [1, 2, 3]) {
        clock.set(`2026-02-01T0${n}:00:00Z`)
        await one.serve()
      }
      expect(await planned(one.store)).toHaveLength(3)
    })
  })
})
