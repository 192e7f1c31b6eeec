/** Options and job states of BullMQ are refused with what to write here, with the numbers of the caller. */
import { describe, expect, test } from 'vitest'
import { defineJob } from '../../src/job/kind/definition.ts'
import { prepareJobs } from '../../src/job/enqueue/prepare-jobs.ts'
import { prepareQueueChange } from '../../src/job/queue/queue-settings.ts'
import { prepareSchedule } from '../../src/job/schedule/schedule-options.ts'
import { checkOptions, jobmill } from '../../src/runtime/jobmill.ts'
import { splitFilter } from '../../src/runtime/operate/list-filter.ts'
import { sqlite } from '../../src/sqlite.ts'
import { refusal, rejection } from './support.ts'

const kind = (options: object) => defineJob({ kind: 'a', run: () => {}, ...options } as never)
const job = (options: object) =>
  prepareJobs([{ kind: 'a', payload: null, ...options }], { mintId: () => 'x' })
const queue = (options: object) => prepareQueueChange(options)
const schedule = (options: object) =>
  prepareSchedule(
    { name: 's', job: 'a', when: '@daily', ...options },
    {
      definition: () => undefined,
      queueOf: () => 'default',
      payloadLimitBytes: 1_000,
    },
  )

const inQueue = (text: string) => `Set it on the queue: queues: { default: { retain: { ${text} } } }`
const base = (length: string) => `{ base: '${length}' }, which doubles after each failure`
const limit = (rate: string, name = 'default') =>
  `Declare a limit and name it: limits: { smtp: ${rate} }, queues: { ${name}: { limit: 'smtp' } }`
const newLimit = (rate: string) =>
  `Create a limit, then pass its name: mill.limits.create('smtp', ${rate}), limit: 'smtp'`
const SCHEDULE = "Create a schedule: mill.schedules.create({ name, job, when: '0 9 * * MON' })"
const FLOW =
  'Jobs have no parents, children or dependencies. Enqueue the next job in the handler: ' +
  'run: ({ enqueue }) => enqueue(next, payload, { withCompletion: true })'

describe('an option of BullMQ is refused with ours', () => {
  test.each<[string, (options: object) => unknown, object, string]>([
    ['of a kind', kind, { backoff: { type: 'exponential', delay: 5_000 } }, `Use ${base('5s')}`],
    ['of a kind', kind, { backoff: { type: 'fixed', delay: 90_000 } }, "Use { fixed: '90s' }"],
    ['of a kind', kind, { backoff: { delay: 'soon' } }, `Use ${base('5s')}`],
    [
      'of a kind',
      kind,
      { concurrency: 8 },
      'Set the workers of the queue: queues: { default: { workers: 8 } }',
    ],
    ['of a kind', kind, { limiter: { max: 9, duration: 1_000 } }, limit("{ rate: 9, per: '1s', burst: 9 }")],
    [
      'of a kind',
      kind,
      { queue: 'mail-out', limiter: { max: 9, duration: '2s' } },
      limit("{ rate: 9, per: '2s', burst: 9 }", '"mail-out"'),
    ],
    // A period of less than 100 ms would be refused.
    ['of a kind', kind, { limiter: { max: 9, duration: 1 } }, limit("{ rate: 900, per: '100ms', burst: 9 }")],
    ['of a kind', kind, { limiter: { max: 2, duration: 30 } }, limit("{ rate: 8, per: '120ms', burst: 2 }")],
    ['of a kind', kind, { removeOnFail: false }, inQueue("dead: 'forever'")],
    ['of a kind', kind, { name: 'send' }, 'Did you mean "kind"?'],
    ['of a kind', kind, { processor: () => {} }, 'Did you mean "run"?'],
    [
      'of a job',
      job,
      { backoff: { type: 'exponential', delay: 250 } },
      `Set it in defineJob: backoff: ${base('250ms')}`,
    ],
    ['of a job', job, { backoff: 5_000 }, `Set it in defineJob: backoff: ${base('5s')}`],
    [
      'of a job',
      job,
      { repeat: { every: 10_000 } },
      "Create a schedule: mill.schedules.create({ name, job, when: 'every 10s' })",
    ],
    ['of a job', job, { repeat: { pattern: '0 3 * * *' } }, SCHEDULE],
    ['of a job', job, { removeOnComplete: true }, inQueue('done: 0')],
    ['of a job', job, { removeOnComplete: 1_000 }, inQueue('done: { most: 1000 }')],
    ['of a job', job, { removeOnFail: { age: 3_600, count: 5 } }, inQueue("dead: { for: '1h', most: 5 }")],
    ['of a job', job, { removeOnFail: { age: 86_400 } }, inQueue("dead: '1d'")],
    ['of a job', job, { limit: 'smtp' }, `Set it on the queue: queues: { default: { limit: 'smtp' } }`],
    ['of a kind', kind, { delay: '5m' }, "Pass it to enqueue: mill.enqueue(job, payload, { delay: '5m' })"],
    ['of a job', job, { lifo: true }, 'Use priority: a lower number runs first'],
    ['of a job', job, { opts: {} }, 'Put the options next to payload: { payload, delay, priority }'],
    ['of a job', job, { parent: { id: 'x', queue: 'q' } }, FLOW],
    ['of a job', job, { children: [] }, FLOW],
    ['of a job', job, { data: 1 }, 'Did you mean "payload"?'],
    ['of a kind', kind, { limit: 'smtp' }, "Set it on the queue: queues: { default: { limit: 'smtp' } }"],
    [
      'of a kind',
      kind,
      { queue: 'mail', limit: { rate: 9, per: '2s' } },
      limit("{ rate: 9, per: '2s' }", 'mail'),
    ],
    ['of a kind', kind, { onFailed: () => {} }, 'Did you mean "onDead"?'],
    ['of a kind', kind, { cron: '0 3 * * *' }, SCHEDULE],
    ['of a job', job, { cron: '0 3 * * *' }, SCHEDULE],
    ['of a job', job, { jobId: 'invoice-1' }, 'Use dedupeKey, or id for a UUID'],
    ['of a job', job, { jobId: '0199A0C8-0000-7000-8000-000000000001' }, 'Did you mean "id"?'],
    ['of a job', job, { deduplication: { id: 'x' } }, 'Use dedupe: { key }'],
    ['of a job', job, { deduplication: { id: 'x', ttl: 5_000 } }, "Use dedupe: { key, window: '5s' }"],
    [
      'of a job',
      job,
      { deduplication: { id: 'x', replace: true } },
      "Use dedupe: { key, onConflict: 'replace' }",
    ],
    ['of a job', job, { dedupe: { id: 'x' } }, 'Use { key }'],
    ['of a job', job, { dedupe: { key: 'x', ttl: 5_000 } }, "Use { key, window: '5s' }"],
    ['of a job', job, { dedupe: 'x' }, 'Pass it as dedupeKey, or pass { key }'],
    ['of a job', job, { debounce: { id: 'x', ttl: 2_000 } }, "Use { key, wait: '2s' }"],
    ['of a queue', queue, { concurrency: 8 }, 'Did you mean "workers"?'],
    ['of a queue', queue, { removeOnComplete: 10 }, 'Use retain: { done: { most: 10 } }'],
    [
      'of a queue',
      queue,
      { limiter: { max: 9, duration: 60_000 } },
      newLimit("{ rate: 9, per: '1m', burst: 9 }"),
    ],
    [
      'of a queue',
      queue,
      { limit: { max: 9, duration: 60_000 } },
      newLimit("{ rate: 9, per: '1m', burst: 9 }"),
    ],
    ['of a queue', queue, { limit: { rate: 9, per: '2h' } }, newLimit("{ rate: 9, per: '2h' }")],
    ['of a queue', queue, { rate: 9, per: '30s' }, newLimit("{ rate: 9, per: '30s' }")],
    ['of a queue', queue, { attempts: 3 }, 'Set it in defineJob: maxAttempts: 3'],
    ['of a queue', queue, { retryLimit: 3 }, 'Set it in defineJob: maxAttempts: 4'],
    ['of a queue', queue, { timeout: 3 }, 'Set it in defineJob: it applies to a kind of job, not to a queue'],
    [
      'of a queue',
      queue,
      { orderKey: 'a' },
      "Pass it to enqueue: mill.enqueue(job, payload, { orderKey: 'customer-7' })",
    ],
    ['of a queue', queue, { backoff: { type: 'exponential', delay: 5_000 } }, `Use ${base('5s')}`],
    [
      'of a queue',
      queue,
      { backoff: { type: 'fixed', delay: 5_000 } },
      "Use backoff: { fixed: '5s' } in defineJob",
    ],
    [
      'of a list',
      splitFilter,
      { limit: 10 },
      "Pass it in the second argument: mill.list({ state: 'dead' }, { limit: 10 })",
    ],
    [
      'of a list',
      splitFilter,
      { include: ['payload'] },
      "Pass it in the second argument: mill.list({ state: 'dead' }, { include: ['payload'] })",
    ],
    [
      'of a list',
      splitFilter,
      { offset: 10 },
      'Pass the next of the previous page: mill.list(filter, { cursor: page.next })',
    ],
    [
      'of a list',
      splitFilter,
      { orderBy: 'id' },
      'Omit it: a list has one order per state, and ended jobs come newest first',
    ],
    ['of a list', splitFilter, { status: 'failed' }, 'Did you mean "state"?'],
    ['of a schedule', schedule, { every: 60_000 }, "Use when: 'every 1m'"],
    ['of a schedule', schedule, { repeat: { every: 60_000 } }, "Use when: 'every 1m'"],
    ['of a schedule', schedule, { pattern: '* * * * *' }, "Use when: '0 9 * * MON'"],
    ['of a schedule', schedule, { endDate: 0 }, "Use end: '2027-01-31T09:00:00Z'"],
  ])('%s', (_, act, options, fix) => {
    expect(refusal(() => act(options)).fix).toBe(fix)
  })

  test.each<[object, readonly string[]]>([
    [{ concurrency: 8 }, ['Set the workers of the queue: queues: { default: { workers: 8 } }.']],
    [{ limiter: { max: 2, duration: 1_000 } }, [`${limit("{ rate: 2, per: '1s', burst: 2 }")}.`]],
    [{ removeOnComplete: 3 }, [`${inQueue('done: { most: 3 }')}.`]],
    [{ retain: { done: '1d' } }, [`${inQueue("done: '7d'")}.`]],
    [
      { limits: { smtp: { max: 50, duration: 60_000 } } },
      ["Use { rate: 50, per: '1m', burst: 50 }.", "Use { rate: 50, per: '1m', burst: 50 }."],
    ],
    [
      { queues: { mail: { concurrency: 8, maxAttempts: 3, rate: 9, per: '30s' } } },
      [
        'Did you mean "workers"?',
        'Set it in defineJob: maxAttempts: 3.',
        `${limit("{ rate: 9, per: '30s' }", 'mail')}.`,
        `${limit("{ rate: 9, per: '30s' }", 'mail')}.`,
      ],
    ],
    [
      { queues: { mail: { limiter: { max: 2, duration: 1_000 } } } },
      [`${limit("{ rate: 2, per: '1s', burst: 2 }", 'mail')}.`],
    ],
    [
      { queues: { mail: {} }, limiter: { max: 2, duration: 1_000 } },
      [`${limit("{ rate: 2, per: '1s', burst: 2 }", 'mail')}.`],
    ],
    [{ queues: { mail: { removeOnFail: 9 } } }, ['Use retain: { dead: { most: 9 } }.']],
    [{ connection: { host: 'h' } }, ["Use store: postgres('postgres://…') or store: sqlite('jobs.db')."]],
  ])('of a mill: %j', (options, fixes) => {
    const found = checkOptions({ store: sqlite(':memory:'), ...options })
    const unknown = found.filter(({ code }) => code === 'OPTION_UNKNOWN')
    expect(unknown.map(({ message }) => message.replace(/^.*? \(got [^)]*\)\. /, ''))).toEqual(fixes)
  })

  test('of the page of a list', async () => {
    const mill = jobmill({ store: sqlite(':memory:'), log: 'silent' })
    const { fix } = await rejection(() => mill.list({}, { offset: 10 } as never))
    expect(fix).toBe('Pass the next of the previous page: mill.list(filter, { cursor: page.next })')
  })

  test('whose text may be a secret is not shown', () => {
    const secret = 'hunter2'
    for (const options of [
      { repeat: { pattern: secret } },
      { backoff: { type: secret, delay: secret } },
      { jobId: secret },
      { deduplication: { id: secret, ttl: secret } },
    ])
      expect(refusal(() => job(options)).message).not.toContain(secret)
  })
})

test.each([
  ['failed', 'Use dead, or retrying for failed jobs that will run again'],
  ['completed', 'Use done'],
  ['waiting', 'Use ready'],
  ['active', 'Use running'],
  ['delayed', 'Use scheduled'],
  ['odd', 'Use one of: scheduled, ready, running, done, dead, cancelled, retrying'],
])('the state %s is refused with ours, alone and in a list', (state, fix) => {
  const one = refusal(() => splitFilter({ state } as never))
  expect(one).toMatchObject({ code: 'OPTION_INVALID', field: 'filter.state', value: `"${state}"`, fix })
  const several = refusal(() => splitFilter({ state: ['dead', state] } as never))
  expect(several).toMatchObject({ field: 'filter.state[1]', fix })
})
