// Log lines of what duties, schedules and limits do, and of what becomes of jobs and instances: at which level, and in which words.
import { expect, test, vi } from 'vitest'
import type { EventTable, EventType } from '../../src/job/events.ts'
import { eventHub } from '../../src/observe/event-hub.ts'
import { consoleLogger, logEvents } from '../../src/observe/log-events.ts'
import { systemPlatform } from '../../src/platform/platform.ts'

type Told = { [T in EventType]: readonly [T, EventTable[T]] }[EventType]

const ATTEMPT = { id: 'x', kind: 'mail', queue: 'q', attempt: 1, maxAttempts: 5 }

const LINES: readonly (readonly [Told, string])[] = [
  [
    ['duty-started', { duty: 'retain', everyMs: 300_000, deadlineMs: 30_000, forAll: true }],
    'debug retain begins, every 300000 ms',
  ],
  [
    ['duty-started', { duty: 'stage', everyMs: null, deadlineMs: null, forAll: false }],
    'debug stage begins, when asked for',
  ],
  [['duty-stopped', { duty: 'retain', passes: 3 }], 'debug retain ended after 3 passes'],
  [
    ['duty-done', { duty: 'retain', counts: { jobs: 3, keys: 0, ticks: 1 }, tookMs: 1.6 }],
    'debug retain: 3 jobs, 1 tick, in 2 ms',
  ],
  [
    ['duty-failing', { duty: 'reap', error: new Error('away'), failures: 1 }],
    'error reap fails and is tried again: Error: away',
  ],
  [['duty-back', { duty: 'reap', failures: 4 }], 'info reap works again, after 4 failures'],
  [['leading', { duty: 'reap' }], 'info this instance leads reap'],
  [['led', { duty: 'reap' }], 'info this instance no longer leads reap'],
  [['rebalanced', { changed: 2 }], 'info split the workers anew: 2 assignments changed'],
  [
    ['instance-lost', { instance: 'x', jobs: 2, blocked: false }],
    'error this instance was not renewed in time; 2 running jobs were told to stop',
  ],
  [
    ['instance-lost', { instance: 'x', jobs: 2, blocked: true }],
    'error this process stood still for longer than its lease, because a handler blocked the event loop or the machine slept; 2 running jobs were told to stop, and others run them again',
  ],
  [
    ['dead', { id: 'x', kind: 'mail', queue: 'q', attempt: 5, maxAttempts: 5, error: 'no' }],
    'error mail x in q, attempt 5 of 5, is dead: no',
  ],
  [
    ['dead', { id: 'x', kind: 'mail', queue: 'q', attempt: 0, maxAttempts: 0, error: 'crashed' }],
    'error mail x in q is dead: crashed',
  ],
  [['queue-resumed', { queue: 'mail' }], 'info queue mail has cooled down: its jobs are claimed again'],
  [['queue-changed', { queue: 'mail' }], 'info the settings of queue mail were changed'],
  [['store-back', { part: 'claim' }], 'info claim reaches the database again'],
  [['instance-back', { instance: 'x' }], 'info this instance is known again and goes on'],
  [
    ['leases-found', { jobs: 1 }],
    'warn handed back 1 job whose claim was never answered, so that nobody ran it',
  ],
  [
    ['instance-lost', { instance: 'x', jobs: 1, blocked: true }],
    'error this process stood still for longer than its lease, because a handler blocked the event loop or the machine slept; 1 running job was told to stop, and others run it again',
  ],
  [['reaped', { instances: ['x'], jobs: [] }], 'warn took back 0 jobs of 1 instance that fell silent'],
  [['mill-started', { instance: 'x', queues: ['a', 'b'], kinds: ['c'] }], 'info started on a, b with 1 kind'],
  [
    ['mill-stopping', { running: 1, graceMs: 500 }],
    'info stopping: 1 job runs and gets up to 500 ms; a second signal ends that at once',
  ],
  [
    ['finished', { ...ATTEMPT, ranMs: 12.3456, totalMs: 20, notKept: null }],
    'debug mail x in q, attempt 1 of 5, is done, in 12 ms',
  ],
  [
    ['started', { ...ATTEMPT, crashes: 0, waitedMs: 3 }],
    'debug mail x in q, attempt 1 of 5, began after waiting for 3 ms',
  ],
  [['limit-drained', { limit: 'smtp', key: null, forMs: 500 }], 'warn limit smtp grants nothing for 500 ms'],
  [['limit-drained', { limit: 'chat', key: '42', forMs: 0 }], 'warn limit chat for 42 was emptied'],
  [
    ['schedule-fired', { schedule: 'nightly', plannedAt: 0, id: 'x', outcome: 'enqueued' }],
    'debug schedule nightly enqueued x',
  ],
  [
    ['schedule-fired', { schedule: 'nightly', plannedAt: 0, id: 'x', outcome: 'skipped' }],
    'debug schedule nightly skipped: x has not ended',
  ],
  [['schedule-missed', { schedule: 'nightly', missed: 2 }], 'warn schedule nightly missed 2 instants'],
  [
    ['schedule-failing', { schedule: 'nightly', error: 'no such zone' }],
    'error schedule nightly cannot be served: no such zone',
  ],
]

test.each(LINES)('%j', async ([type, event], expected) => {
  const hub = eventHub(systemPlatform)
  const lines: string[] = []
  const at = (level: string) => (line: string) => void lines.push(`${level} ${line}`)
  logEvents(hub, { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') })
  hub.emit(type, event)
  await hub.delivered()
  expect(lines).toEqual([expected])
})

test('times are told to a tenth of a millisecond', async () => {
  const hub = eventHub(systemPlatform)
  const told: object[] = []
  const hear = (_: string, fields: object): void => void told.push(fields)
  logEvents(hub, { debug: hear, info: hear, warn: hear, error: hear })
  hub.emit('finished', { ...ATTEMPT, ranMs: 12.345678, totalMs: 0.1 + 0.2, notKept: null })
  await hub.delivered()
  expect(told).toEqual([{ ...ATTEMPT, ranMs: 12.3, totalMs: 0.3, notKept: null }])
})

test('a logger that writes from some level up does not listen to what is below: that could crowd it out', async () => {
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  try {
    const hub = eventHub(systemPlatform, 2)
    const end = logEvents(hub, consoleLogger('warn'))
    for (let n = 0; n < 10; n += 1) hub.emit('leading', { duty: `duty ${n}` })
    hub.emit('schedule-missed', { schedule: 'nightly', missed: 2 })
    await hub.delivered()
    end()
    hub.emit('schedule-missed', { schedule: 'nightly', missed: 3 })
    await hub.delivered()
    expect(written.mock.calls).toEqual([['jobmill warn  schedule nightly missed 2 instants\n']])
    expect(hub.counts.dropped).toBe(0)
  } finally {
    written.mockRestore()
  }
})

test('S3 an error cannot write escape sequences into the text log, nor lines of its own', async () => {
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  try {
    const hub = eventHub(systemPlatform)
    logEvents(hub, consoleLogger('warn'))
    const error = 'Error: \u001B]0;x\u0007\u009B2J\u202E\r\njobmill error all jobs are dead\u2028'
    hub.emit('dead', { ...ATTEMPT, error })
    await hub.delivered()
    expect(written.mock.calls).toEqual([
      [
        'jobmill error mail x in q, attempt 1 of 5, is dead: Error: \\u001b]0;x\\u0007\\u009b2J\\u202e\\u000d jobmill error all jobs are dead\\u2028\n',
      ],
    ])
  } finally {
    written.mockRestore()
  }
})
