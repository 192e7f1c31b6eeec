// P12: schedules in code, changes by an operator, and every read and operation at run time.
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { z } from 'zod'
import { defineJob } from '../../src/job/kind/definition.ts'
import { rejection } from '../unit/support.ts'
import { allJobs, benches } from './schedules-bench.ts'

const hourly = { name: 'hourly', job: 'work', when: '0 * * * *' } as const
const iso = (runs: readonly number[]): string[] => runs.map((run) => new Date(run).toISOString().slice(0, 16))

describe.each(benches)('schedules on %s', (name, bench) => {
  const test = inTurns(
    name,
    benches.map(([place]) => place),
  )

  describe('a deploy', () => {
    test('P12 target 10: applies changes in code from now on', async () => {
      const { clock, process, planned } = bench()
      clock.set('2026-02-01T00:30:00Z')
      const one = await process()
      await one.deploy(hourly)
      await one.serve()
      await one.deploy({ ...hourly, when: '45 * * * *', payload: { v: 2 } })
      await one.serve()
      expect(await one.schedules.get('hourly')).toMatchObject({
        when: '45 * * * *',
        payload: { v: 2 },
        differs: [],
        nextAt: Date.parse('2026-02-01T00:45:00Z'),
      })
      clock.set('2026-02-01T01:00:00Z')
      await one.serve()
      expect(await planned(one.store)).toEqual(['2026-02-01T00:45:00Z'])
    })

    test('P12 without changes loses no due tick', async () => {
      const { clock, process, planned } = bench()
      clock.set('2026-02-01T00:30:00Z')
      const one = await process()
      await one.deploy(hourly)
      await one.serve()
      clock.set('2026-02-01T01:00:00Z')
      await one.deploy(hourly)
      await one.deploy({ ...hourly, payload: 'new' })
      await one.serve()
      expect(await planned(one.store)).toEqual(['2026-02-01T01:00:00Z'])
      expect((await allJobs(one.store))[0]).toMatchObject({ payload: '"new"' })
    })

    test('P12 of an old version does not revert a newer one', async () => {
      const { clock, process } = bench()
      clock.set('2026-02-01T00:30:00Z')
      const [fresh, old] = [await process(), await process()]
      await fresh.deploy({ ...hourly, when: '@daily', version: 2 })
      await old.deploy({ ...hourly, version: 1 })
      expect(await old.schedules.get('hourly')).toMatchObject({ when: '@daily', version: 2 })
    })

    test('P12 does not revert the changes of an operator, and reports configuration drift', async () => {
      const { clock, process } = bench()
      clock.set('2026-02-01T00:30:00Z')
      const one = await process()
      await one.deploy(hourly)
      await one.schedules.change('hourly', { when: 'every 5m', priority: 0 })
      await one.deploy({ ...hourly, when: '@daily', payload: 7, version: 2 })
      expect(await one.schedules.get('hourly')).toMatchObject({
        when: 'every 5m',
        payload: 7,
        version: 2,
        differs: ['when'],
        text: 'every 5 minutes',
      })
      await one.schedules.pause('hourly')
      await one.deploy({ ...hourly, version: 3 })
      expect(await one.schedules.get('hourly')).toMatchObject({ paused: true, differs: ['when', 'paused'] })
    })

    test('P12 N1 does not restore a schedule that an operator deleted, even with a higher version', async () => {
      const { clock, process } = bench()
      clock.set('2026-02-01T00:30:00Z')
      const one = await process()
      await one.deploy(hourly)
      expect(await one.schedules.delete('hourly')).toBe(true)
      await one.deploy(hourly)
      expect(await one.schedules.list()).toEqual([])
      expect(await one.schedules.delete('hourly')).toBe(false)
      await one.deploy({ ...hourly, version: 2 })
      expect(await one.schedules.list()).toEqual([])
    })
  })

  describe('at run time', () => {
    const strict = defineJob({
      kind: 'work',
      queue: 'mail',
      priority: 4,
      payload: z.object({ to: z.email() }),
      run: () => {},
    })

    test('P12 a schedule can be created, is served by a process without code for it, and runs with its options', async () => {
      const { clock, process } = bench()
      clock.set('2026-02-01T00:30:00Z')
      const [author, leader] = [await process([strict]), await process()]
      const view = await author.schedules.create({
        name: 'letters',
        job: strict,
        when: '0 9 * * MON-FRI',
        zone: 'Europe/Paris',
        payload: { to: 'ada@example.com' },
        maxAttempts: 2,
        timeout: '30s',
        tags: ['letter'],
      })
      expect(view).toMatchObject({
        name: 'letters',
        text: 'at 09:00 from Monday to Friday, Europe/Paris time',
        nextAt: Date.parse('2026-02-02T08:00:00Z'),
        version: null,
        differs: [],
        lastAt: null,
        error: null,
        payload: { to: 'ada@example.com' },
      })
      expect(author.wakeCalls()).toBe(1)
      await leader.serve()
      clock.set('2026-02-02T08:00:00Z')
      await leader.serve()
      expect(await allJobs(author.store)).toMatchObject([
        {
          kind: 'work',
          queue: 'mail',
          priority: 4,
          maxAttempts: 2,
          timeoutMs: 30_000,
          tags: ['letter'],
          payload: '{"to":"ada@example.com"}',
          metadata: '{"schedule":"letters","plannedAt":"2026-02-02T08:00:00.000Z"}',
          state: 'ready',
        },
      ])
    })

    test('with jitter, a job is due some time after its tick', async () => {
      const { clock, process } = bench()
      clock.set('2026-02-01T00:30:00Z')
      const one = await process()
      await one.schedules.create({ ...hourly, jitter: '30m' })
      await one.serve()
      clock.set('2026-02-01T01:00:00Z')
      await one.serve()
      const [job] = await allJobs(one.store)
      expect(job?.state).toBe('scheduled')
      expect(job?.dueAt).toBeGreaterThan(Date.parse('2026-02-01T01:00:00Z'))
      expect(job?.dueAt).toBeLessThanOrEqual(Date.parse('2026-02-01T01:30:00Z'))
    })

    test('invalid schedules are refused, and nothing is written', async () => {
      const { clock, process } = bench()
      clock.set('2026-02-01T00:30:00Z')
      const { schedules } = await process([strict])
      const create = (options: object) => rejection(() => schedules.create({ ...hourly, ...options }))
      expect(await create({ when: '0 25 * * *', payload: { to: 'a@b.co' } })).toMatchObject({
        code: 'SCHEDULE_INVALID',
        field: 'schedule.when',
        message: expect.stringContaining('at character 3') as string,
      })
      expect(await create({ payload: { to: 1 } })).toMatchObject({ field: 'schedule.payload.to' })
      expect(await create({ version: 2 })).toMatchObject({
        code: 'OPTION_UNKNOWN',
        field: 'schedule.version',
      })
      expect(await schedules.list()).toEqual([])
      await schedules.create({ ...hourly, payload: { to: 'a@b.co' } })
      expect(await create({ payload: { to: 'a@b.co' } })).toMatchObject({ code: 'SCHEDULE_EXISTS' })
      expect(await rejection(() => schedules.change('hourly', { payload: 5 }))).toMatchObject({
        code: 'PAYLOAD_INVALID',
      })
      expect(await rejection(() => schedules.change('hourli', { paused: true }))).toMatchObject({
        code: 'SCHEDULE_UNKNOWN',
        fix: 'Did you mean "hourly"?',
      })
      expect(await rejection(() => schedules.trigger('none-of-these'))).toMatchObject({
        code: 'SCHEDULE_UNKNOWN',
      })
      expect(await schedules.get('hourly')).toMatchObject({ when: '0 * * * *', payload: { to: 'a@b.co' } })
    })

    test('P12 a trigger enqueues one job now, and the plan stays', async () => {
      const { clock, process, planned } = bench()
      clock.set('2026-02-01T00:30:00Z')
      const one = await process()
      await one.deploy({ ...hourly, paused: true, overlap: 'skip' })
      const { outcome, job } = await one.schedules.trigger('hourly')
      expect(outcome).toBe('enqueued')
      expect(await allJobs(one.store)).toMatchObject([
        { id: job, state: 'ready', metadata: '{"schedule":"hourly"}' },
      ])
      expect(await one.schedules.trigger('hourly')).toEqual({ outcome: 'skipped', job })
      expect(await one.schedules.get('hourly')).toMatchObject({ paused: true, lastAt: null, nextAt: null })
      expect(await planned(one.store)).toEqual(['none'])
    })

    test('P12 a trigger with a delay enqueues a job that is due later', async () => {
      const { clock, process } = bench()
      clock.set('2026-02-01T00:30:00Z')
      const one = await process()
      await one.deploy({ ...hourly, overlap: 'skip' })
      const { job } = await one.schedules.trigger('hourly', { delay: '10s' })
      expect(await allJobs(one.store)).toMatchObject([
        { id: job, state: 'scheduled', dueAt: clock.now() + 10_000 },
      ])
      expect(await one.schedules.trigger('hourly')).toEqual({ outcome: 'skipped', job })
      expect(await rejection(() => one.schedules.trigger('hourly', { delay: 'soon' }))).toMatchObject({
        code: 'DURATION_INVALID',
        field: 'delay',
      })
    })

    test('nextRuns returns the ticks of an existing schedule and of a draft', async () => {
      const { clock, process } = bench()
      clock.set('2026-02-01T00:30:00Z')
      const { schedules, deploy, serve } = await process()
      await deploy({ ...hourly, when: 'every 20m' })
      expect(await schedules.nextRuns('hourly')).toHaveLength(10)
      expect(iso(await schedules.nextRuns('hourly', 2))).toEqual(['2026-02-01T00:50', '2026-02-01T01:10'])
      await serve()
      // An overdue tick is still the next one.
      clock.set('2026-02-01T01:00:00Z')
      expect(iso(await schedules.nextRuns('hourly', 2))).toEqual(['2026-02-01T00:50', '2026-02-01T01:10'])
      expect(iso(await schedules.nextRuns({ when: '0 9 * * *', zone: 'Europe/Paris' }, 1))).toEqual([
        '2026-02-01T08:00',
      ])
      expect(iso(await schedules.nextRuns({ when: '@daily', end: '2026-02-02T12:00:00Z' }))).toEqual([
        '2026-02-02T00:00',
      ])
      expect((await rejection(() => schedules.nextRuns('none'))).code).toBe('SCHEDULE_UNKNOWN')
      expect((await rejection(() => schedules.nextRuns({ when: 'never' }))).code).toBe('SCHEDULE_INVALID')
      expect((await rejection(() => schedules.nextRuns('hourly', 0))).code).toBe('NUMBER_INVALID')
    })

    test('describes a schedule in English, by name or by expression', async () => {
      const { clock, process } = bench()
      clock.set('2026-02-01T00:30:00Z')
      const { schedules, deploy } = await process()
      await deploy({ ...hourly, when: '30 2 L * *', zone: 'America/New_York' })
      expect(await schedules.describe('hourly')).toBe(
        'at 02:30 on the last day of the month, America/New_York time',
      )
      expect(await schedules.describe('every 10m')).toBe('every 10 minutes')
      expect(await schedules.describe('@daily', 'UTC')).toBe('at 00:00 every day, UTC')
      expect((await rejection(() => schedules.describe('@daily', 'Mars'))).code).toBe('SCHEDULE_INVALID')
      expect((await rejection(() => schedules.describe('daily'))).code).toBe('SCHEDULE_UNKNOWN')
    })

    test('lists a schedule that cannot be parsed, with the reason', async () => {
      const { clock, process } = bench()
      clock.set('2026-02-01T00:30:00Z')
      const one = await process()
      await one.deploy(hourly, { ...hourly, name: 'other' })
      await one.store.schedules.change('hourly', { when: 'at the full moon' })
      clock.set('2026-02-01T01:00:00Z')
      expect(await one.serve()).toMatchObject({ failed: 1 })
      expect(await one.schedules.get('hourly')).toMatchObject({
        text: 'at the full moon',
        nextAt: null,
        error: expect.stringContaining('has 4 fields') as string,
      })
      // Changing the schedule repairs it.
      await one.schedules.change('hourly', { when: '30 * * * *' })
      expect(await one.serve()).toMatchObject({ failed: 0 })
      expect(await one.schedules.get('hourly')).toMatchObject({ error: null, paused: false })
    })
  })
})
