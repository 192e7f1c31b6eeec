// Validation of the options for many processes: each error and warning names the field and the fix.
import { describe, expect, inject, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { defineJob, jobmill } from '../../src/index.ts'
import { postgres } from '../../src/postgres.ts'
import { sqlite } from '../../src/sqlite.ts'
import { testMill } from '../../src/testing/index.ts'
import { rejection } from '../unit/support.ts'

const quick = defineJob({ kind: 'quick', run: () => null })

function refused(options: object): string {
  try {
    jobmill({ store: sqlite(':memory:'), jobs: [quick], log: 'silent', ...options })
  } catch (error) {
    return String(error)
  }
  return 'accepted'
}

describe('options for a cluster', () => {
  test.each([
    [
      { queues: ['mail'] },
      'queues: must be an object with an entry for each name (got an array of 1 item). Pass { mail:',
    ],
    [{ limits: [{ rate: 1 }] }, 'limits: must be an object with an entry for each name'],
    [
      { queues: new Map([['mail', { workers: 1 }]]) },
      'queues: must be an object with an entry for each name (got a Map). Pass { mail:',
    ],
    [{ queues: { mail: new Map() } }, 'queues.mail: must be an object (got a Map'],
    [{ limits: new Map() }, 'limits: must be an object with an entry for each name'],
    [{ limits: { a: {} } }, 'limits.a: must have a rate or a concurrency. Pass { rate: 50'],
    [
      { limits: { a: { rate: 5, per: 60 } } },
      'limits.a.per: must not be shorter than 100 ms (got 60). Pass the period',
    ],
    [
      { duties: [{ name: 'd', every: 5, run: () => {} }] },
      'duties[0].every: must be at least 100 ms (got 5)',
    ],
    [
      { duties: [{ name: 'retain', every: '1m', run: () => {} }] },
      'duties[0].name: is already in use: "retain"',
    ],
    [{ duties: [{ name: 'd', every: '1m' }] }, 'duties[0].run: must be a function'],
    [{ capacity: 0 }, 'capacity: '],
    [{ retain: { evnts: '1d' } }, 'Did you mean "events"?'],
    [
      { schedules: [{ name: 'a', job: quick, cron: '* * * * *' }] },
      'schedules[0].cron: is not an option (got "cron"). Use when: \'0 9 * * MON\'.',
    ],
    [{ schedules: [{ name: 'a', job: quick, when: '@daily', tz: 'UTC' }] }, "Use zone: 'Europe/Paris'."],
    [
      { schedules: [1, 2].map(() => ({ name: 'a', job: quick, when: '@daily' })) },
      'schedules[1].name: is already in use: "a". Use a unique name for each schedule',
    ],
    [{ jbos: [] }, 'Did you mean "jobs"?'],
  ])('%j', (options, message) => {
    const problem = refused(options)
    expect(problem).toContain(message)
    expect(problem).not.toMatch(/\?\./)
  })

  test('a schedule with a misspelled kind of this process is a warning', () => {
    const mill = jobmill({
      store: sqlite(':memory:'),
      jobs: [quick],
      schedules: [{ name: 'a', job: 'qiuck', when: '@daily' }],
      log: 'silent',
    })
    expect(mill.warnings.map(({ message }) => message)).toEqual([
      'schedules[0].job: is not defined in this process: "qiuck". Did you mean "quick"?',
    ])
  })

  test('start logs each warning once, also with a logger that throws', async () => {
    const lines: unknown[] = []
    const schedules = [{ name: 'a', job: 'qiuck', when: '@daily', paused: true }]
    const message = 'schedules[0].job: is not defined in this process: "qiuck". Did you mean "quick"?'
    await using mill = await testMill({
      jobs: [quick],
      schedules,
      log: (level, text, fields) => void lines.push([level, text, fields]),
    })
    await mill.start()
    const warned = lines.filter((line) => Array.isArray(line) && line[0] === 'warn')
    expect(warned).toEqual([['warn', message, { code: 'OPTION_INVALID', option: 'schedules[0].job' }]])
    await using broken = await testMill({
      jobs: [quick],
      schedules,
      log() {
        throw new Error('full')
      },
    })
    expect(broken.warnings).toHaveLength(1)
  })
})

describe('a query with a typo', () => {
  test('is refused instead of returning nothing', async () => {
    await using mill = await testMill({ jobs: [quick] })
    const calls: [() => Promise<unknown>, object][] = [
      [() => mill.metrics({ queues: 'default' as never }), { code: 'OPTION_INVALID', field: 'queues' }],
      [() => mill.metrics({ instances: 'x' as never }), { code: 'OPTION_INVALID', field: 'instances' }],
      [() => mill.metrics({ limits: 'x' as never }), { code: 'OPTION_INVALID', field: 'limits' }],
      [() => mill.timeline({ types: 'reaped' as never }), { code: 'OPTION_INVALID', field: 'types' }],
      [() => mill.timeline({ types: ['reapd'] }), { field: 'types[0]' }],
      [() => mill.schedules.history('dialy'), { code: 'SCHEDULE_UNKNOWN' }],
      [
        () => mill.schedules.nextRuns({ when: '@daily', tz: 'Asia/Tokyo' } as never),
        { code: 'OPTION_UNKNOWN', field: 'schedule.tz' },
      ],
    ]
    for (const [call, what] of calls) expect(await rejection(call)).toMatchObject(what)
  })
})

describe('a notifier that cannot listen, on postgres', () => {
  test('P16 is reported as a failing duty, and jobs still run', async () => {
    const url = inject('postgresUrl')
    const mill = jobmill({
      store: postgres(url, {
        schema: freshSchema(url, 'deaf'),
        notifier: 'postgres://postgres@127.0.0.1:1/postgres',
      }),
      jobs: [quick],
      log: 'silent',
    })
    const failing = new Promise<unknown>((resolve) => mill.on('duty-failing', resolve))
    await mill.start()
    const job = await mill.enqueue(quick, null)
    expect(await job.result()).toBeNull()
    expect(await failing).toMatchObject({ duty: 'listen', error: { field: 'notifier' } })
    await mill.stop()
  }, 60_000)
})
