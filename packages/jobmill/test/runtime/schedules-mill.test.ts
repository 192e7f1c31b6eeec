// P12: schedules in whole mills, which plan ticks, enqueue their jobs and run them.
import { describe, expect, test } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { defineJob, type JobContext } from '../../src/index.ts'
import { faultyStore, testPlatform } from '../../src/testing/index.ts'
import { refusal } from '../unit/support.ts'
import { type Subject, subjects } from './stores.ts'

const iso = (at: number): string => new Date(at).toISOString().slice(11, 19)

/** Records the planned instants of the jobs that ran, and when they ran. */
function recorder(failures = 0) {
  const ran: { readonly planned: string; readonly at: string; readonly payload: unknown }[] = []
  const job = defineJob({
    kind: 'record',
    backoff: { fixed: '25s', jitter: 'none' },
    run({ job: { metadata }, attempt, payload, now }: JobContext) {
      if (attempt <= failures) throw new Error('not yet')
      const planned = metadata?.['plannedAt']
      const text = typeof planned === 'string' ? iso(Date.parse(planned)) : 'none'
      ran.push({ planned: text, at: iso(now()), payload })
    },
  })
  return { job, planned: () => ran.map(({ planned }) => planned), ran }
}

const start = (subject: Subject, startAt: string, options: Parameters<Subject['mill']>[0]) =>
  subject.mill({ ...options, platform: testPlatform({ startAt }) })

describe.each(subjects.map((subject) => [subject.name, subject] as const))(
  'a mill on %s',
  (name, subject) => {
    const test = inTurns(name, subjects)
    test('P12 serves the schedules of its code, and runs their jobs', async () => {
      const { job, planned, ran } = recorder()
      const mill = await start(subject, '2026-02-01T00:00:30Z', {
        jobs: [job],
        schedules: [{ name: 'minutes', job, when: '* * * * *', payload: { to: 'all' } }],
      })
      await mill.clock.advance('5m')
      expect(planned()).toEqual(['00:01:00', '00:02:00', '00:03:00', '00:04:00', '00:05:00'])
      for (const { planned: instant, at, payload } of ran) {
        expect(Date.parse(`2026-02-01T${at}Z`) - Date.parse(`2026-02-01T${instant}Z`)).toBeLessThanOrEqual(
          1_000,
        )
        expect(payload).toEqual({ to: 'all' })
      }
      expect(await mill.schedules.get('minutes')).toMatchObject({
        lastOutcome: 'enqueued',
        missedRuns: 0,
        error: null,
      })
    })

    test('P12 runs a tick in a clock gap once, at the first instant after it', async () => {
      const { job, planned } = recorder()
      const mill = await start(subject, '2026-03-29T00:59:30Z', {
        jobs: [job],
        schedules: [{ name: 'night', job, when: '15,30 2 * * *', zone: 'Europe/Paris' }],
      })
      await mill.clock.advance('2m')
      expect(planned()).toEqual(['01:00:00'])
    })

    test('P12 enqueues nothing while a job of the schedule waits for its next attempt', async () => {
      const { job, planned } = recorder(1)
      const mill = await start(subject, '2026-02-01T00:00:05Z', {
        jobs: [job],
        schedules: [{ name: 'often', job, when: '*/10 * * * * *', overlap: 'skip' }],
      })
      await mill.clock.advance('50s')
      // The job of second 10 runs at 10 and 35, and the ticks in between are skipped. The job of second 40
      // runs at 40 and 65.
      expect(planned()).toEqual(['00:00:10'])
      expect((await mill.schedules.history('often')).map(({ outcome }) => outcome)).toEqual([
        'skipped',
        'enqueued',
        'skipped',
        'skipped',
        'enqueued',
      ])
    })

    test('the history and the list have the state of the jobs, or null for a deleted one', async () => {
      let runs = 0
      const job = defineJob({
        kind: 'payout',
        maxAttempts: 1,
        run() {
          runs += 1
          if (runs === 2) throw new Error('no')
        },
      })
      const mill = await start(subject, '2026-02-01T00:00:05Z', {
        jobs: [job],
        schedules: [{ name: 'payout', job, when: '* * * * *' }],
      })
      await mill.clock.advance('30s')
      expect(await mill.schedules.listWithStates()).toMatchObject([{ lastState: null, runs: [] }])
      await mill.clock.advance('3m')
      expect((await mill.schedules.history('payout')).map(({ state }) => state)).toEqual([
        'done',
        'dead',
        'done',
      ])
      const [schedule] = await mill.schedules.listWithStates()
      expect(schedule).toMatchObject({
        name: 'payout',
        lastState: 'done',
        runs: [{ job: schedule?.lastJob, state: 'done' }, { state: 'dead' }, { state: 'done' }],
      })
      await mill.delete(schedule?.lastJob ?? '')
      expect(await mill.schedules.listWithStates()).toMatchObject([
        { lastState: null, runs: [{ state: null }, { state: 'dead' }, { state: 'done' }] },
      ])
    })

    test('P12 a trigger with a lost reply enqueues one job', async () => {
      const { job, planned } = recorder()
      const mill = await subject.mill(
        { jobs: [job], schedules: [{ name: 'yearly', job, when: '@yearly' }] },
        (store) => {
          const faulty = faultyStore(store)
          faulty.loseReply('enqueue')
          return faulty
        },
      )
      const { outcome, job: id } = await mill.schedules.trigger('yearly')
      await mill.drain()
      expect([outcome, (await mill.get(id))?.state, planned()]).toEqual(['enqueued', 'done', ['none']])
    })
  },
)

test('invalid schedules are reported with the other options', async () => {
  const [sqlite] = subjects
  const bad = { name: 'bad', job: 'work', when: '0 25 * * *' }
  const error = await sqlite?.mill({ schedules: [bad], start: false }).catch((thrown: unknown) => thrown)
  expect(
    refusal(() => {
      throw error
    }),
  ).toMatchObject({
    code: 'OPTIONS_INVALID',
    problems: [{ option: 'schedules[0].when', message: expect.stringContaining('at character 3') as string }],
  })
})
