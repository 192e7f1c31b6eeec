// Log lines of duties, schedules, limits, jobs and instances: their levels and texts.
import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { defineJob, jobmill, type LogOption } from '../../src/index.ts'
import { loggerFor } from '../../src/runtime/options/log-option.ts'
import { sqlite } from '../../src/sqlite.ts'
import type { EventTable, EventType } from '../../src/job/events.ts'
import { eventHub } from '../../src/observe/event-hub.ts'
import { consoleLogger, logEvents } from '../../src/observe/log/log-events.ts'
import { systemPlatform } from '../../src/platform/platform.ts'

type AnyEvent = { [T in EventType]: readonly [T, EventTable[T]] }[EventType]

const ATTEMPT = { id: 'x', kind: 'mail', queue: 'q', attempt: 1, maxAttempts: 5 }

const LINES: readonly (readonly [AnyEvent, string])[] = [
  [
    ['duty-started', { duty: 'retain', everyMs: 300_000, deadlineMs: 30_000, forAll: true }],
    'info duty retain started, every 300000 ms',
  ],
  [
    ['duty-started', { duty: 'stage', everyMs: null, deadlineMs: null, forAll: false }],
    'debug duty stage started, on demand',
  ],
  [['duty-stopped', { duty: 'retain', passes: 3 }], 'debug duty retain stopped after 3 passes'],
  [
    ['duty-done', { duty: 'retain', counts: { jobs: 4, done: 3, dead: 1, keys: 0, ticks: 1 }, tookMs: 1.6 }],
    'info duty retain processed 3 done, 1 dead, 1 tick in 2 ms',
  ],
  [
    ['duty-done', { duty: 'sweep', counts: { files: 2 }, tookMs: 1 }],
    'info duty sweep processed 2 files in 1 ms',
  ],
  [
    ['duty-done', { duty: 'stage', counts: { ready: 2 }, tookMs: 1 }],
    'debug duty stage processed 2 ready in 1 ms',
  ],
  [
    ['grace-expired', { jobs: [{ ...ATTEMPT, isAbandoned: true }] }],
    'warn grace period over: asked 1 running job to stop: job mail x in q (still running)',
  ],
  [
    ['duty-failing', { duty: 'reap', error: new Error('away'), failures: 1 }],
    'error duty reap failed, retrying: Error: away',
  ],
  [['duty-back', { duty: 'reap', failures: 4 }], 'info duty reap recovered after 4 failures'],
  [['leading', { duty: 'reap' }], 'info instance became leader of reap'],
  [['led', { duty: 'reap' }], 'info instance is no longer leader of reap'],
  [['rebalanced', { changed: 2 }], 'info workers were rebalanced: 2 assignments changed'],
  [
    ['instance-lost', { instance: 'x', jobs: 2, blocked: false }],
    'error instance did not renew its lease in time; asked 2 running jobs to stop',
  ],
  [
    ['instance-lost', { instance: 'x', jobs: 2, blocked: true }],
    'error process stalled for longer than its lease, because a handler blocked the event loop or the process was suspended; asked 2 running jobs to stop, and other processes will run them again',
  ],
  [
    ['dead', { id: 'x', kind: 'mail', queue: 'q', attempt: 5, maxAttempts: 5, error: 'no' }],
    'error job mail x in q (attempt 5 of 5) failed permanently: no',
  ],
  [
    ['dead', { id: 'x', kind: 'mail', queue: 'q', attempt: 0, maxAttempts: 0, error: 'crashed' }],
    'error job mail x in q failed permanently: crashed',
  ],
  [['queue-resumed', { queue: 'mail' }], 'info queue mail resumed after cooling down'],
  [['queue-changed', { queue: 'mail' }], 'info queue mail settings changed'],
  [['store-back', { part: 'claim' }], 'info database calls of claim succeed again'],
  [
    ['store-failing', { part: 'claim', error: new Error('locked') }],
    'error database calls of claim are failing, retrying: Error: locked',
  ],
  [
    ['store-failing', { part: 'run', error: new Error('bug') }],
    'error running a job failed with an internal error: Error: bug',
  ],
  [
    ['store-failing', { part: 'close', error: new Error('slow') }],
    'error close failed during shutdown: Error: slow',
  ],
  [['instance-back', { instance: 'x' }], 'info instance is registered again'],
  [
    ['leases-found', { jobs: 1 }],
    'warn returned 1 job to the queue, because the reply to the claim was lost',
  ],
  [
    ['instance-lost', { instance: 'x', jobs: 1, blocked: true }],
    'error process stalled for longer than its lease, because a handler blocked the event loop or the process was suspended; asked 1 running job to stop, and other processes will run it again',
  ],
  [['reaped', { instances: ['x'], jobs: [] }], 'warn reclaimed 0 jobs from 1 expired instance'],
  [
    ['mill-started', { instance: 'x', label: null, version: null, queues: ['a', 'b'], kinds: ['c'] }],
    'info mill started on a, b with 1 kind',
  ],
  [
    ['mill-started', { instance: 'x', label: 'l', version: '2.15.0', queues: ['a'], kinds: ['c'] }],
    'info mill started with version 2.15.0 on a with 1 kind',
  ],
  [
    ['mill-stopping', { running: 1, graceMs: 500 }],
    'info mill is stopping: 1 running job has up to 500 ms to finish',
  ],
  [
    ['finished', { ...ATTEMPT, ranMs: 12.3456, totalMs: 20, notKept: null }],
    'debug job mail x in q (attempt 1 of 5) completed in 12 ms',
  ],
  [
    ['started', { ...ATTEMPT, crashes: 0, waitedMs: 3 }],
    'debug job mail x in q (attempt 1 of 5) started after waiting 3 ms',
  ],
  [['limit-drained', { limit: 'smtp', key: null, forMs: 500 }], 'warn limit smtp grants nothing for 500 ms'],
  [['limit-drained', { limit: 'chat', key: '42', forMs: 0 }], 'warn limit chat for key 42 was drained'],
  [
    ['schedule-fired', { schedule: 'nightly', plannedAt: 0, id: 'x', outcome: 'enqueued' }],
    'debug schedule nightly enqueued job x',
  ],
  [
    ['schedule-fired', { schedule: 'nightly', plannedAt: 0, id: 'x', outcome: 'skipped' }],
    'debug schedule nightly skipped a tick: job x has not ended',
  ],
  [['schedule-missed', { schedule: 'nightly', missed: 2 }], 'warn schedule nightly missed 2 ticks'],
  [
    ['schedule-failing', { schedule: 'nightly', error: 'no such zone' }],
    'error schedule nightly failed to enqueue: no such zone',
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

test('durations are rounded to a tenth of a millisecond', async () => {
  const hub = eventHub(systemPlatform)
  const logged: object[] = []
  const hear = (_: string, fields: object): void => void logged.push(fields)
  logEvents(hub, { debug: hear, info: hear, warn: hear, error: hear })
  hub.emit('finished', { ...ATTEMPT, ranMs: 12.345678, totalMs: 0.1 + 0.2, notKept: null })
  await hub.delivered()
  expect(logged).toEqual([{ ...ATTEMPT, ranMs: 12.3, totalMs: 0.3, notKept: null }])
})

test('a logger with a minimum level does not subscribe to lower ones, which could fill its buffer', async () => {
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
    expect(written.mock.calls.map(([text]) => text)).toEqual([
      'jobmill warn  schedule nightly missed 2 ticks\n',
    ])
    expect(hub.counts.dropped).toBe(0)
  } finally {
    written.mockRestore()
  }
})

test('S3 an error cannot write escape sequences or extra lines into the text log', async () => {
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  try {
    const hub = eventHub(systemPlatform)
    logEvents(hub, consoleLogger('warn'))
    const error = 'Error: \u001B]0;x\u0007\u009B2J\u202E\r\njobmill error all jobs are dead\u2028'
    hub.emit('dead', { ...ATTEMPT, error })
    await hub.delivered()
    expect(written.mock.calls.map(([text]) => text)).toEqual([
      'jobmill error job mail x in q (attempt 1 of 5) failed permanently: Error: \\u001b]0;x\\u0007\\u009b2J\\u202e\\u000d jobmill error all jobs are dead\\u2028\n',
    ])
  } finally {
    written.mockRestore()
  }
})

/** The log lines of a job that logs and fails twice, by their text. */
async function logOfJob(log: LogOption, options: { forwardJobLogs?: boolean } = {}): Promise<string> {
  const job = defineJob({
    kind: 'mail',
    maxAttempts: 2,
    backoff: { fixed: 0 },
    run({ log: say }) {
      say('sending', { to: 'ada', id: 'of the mail' })
      say.debug('details')
      throw new TypeError('no such host', { cause: new Error('ENOTFOUND') })
    },
  })
  const mill = jobmill({ store: sqlite(':memory:'), jobs: [job], log, ...options })
  onTestFinished(async () => void (await mill.stop({ grace: 0 })))
  await mill.start()
  const handle = await mill.enqueue(job, null)
  await handle.result().catch(() => {})
  await mill.stop()
  return handle.id
}

type Line = Readonly<Record<string, unknown>>

test('N2 N3 pino receives every field, the log lines of handlers, and the stacks of failures', async () => {
  const lines: Line[] = []
  const logger = pino(
    { level: 'info', base: null, timestamp: false, formatters: { level: (level) => ({ level }) } },
    { write: (line) => void lines.push(JSON.parse(line) as Line) },
  )
  // A child logger, as frameworks provide them, and one that is wrapped by name.
  for (const log of [logger, logger.child({}), { pino: logger }]) {
    lines.length = 0
    const id = await logOfJob(log)
    const own = lines.filter((line) => line['id'] === id)
    const ref = { id, kind: 'mail', queue: 'default', maxAttempts: 2 }
    const stack: unknown = expect.stringMatching(
      /TypeError: no such host\n {4}at .*\n(.*\n)*caused by: Error: ENOTFOUND\n {4}at /,
    )
    const sending = {
      level: 'info',
      from: 'handler',
      fields: { to: 'ada', id: 'of the mail' },
      msg: 'sending',
    }
    expect(own).toMatchObject([
      { ...ref, ...sending, attempt: 1 },
      { ...ref, level: 'warn', attempt: 1, error: expect.stringContaining('no such host') as unknown, stack },
      { ...ref, ...sending, attempt: 2 },
      {
        ...ref,
        level: 'error',
        attempt: 2,
        stack,
        msg: expect.stringContaining('failed permanently: ') as unknown,
      },
    ])
  }
  lines.length = 0
  await logOfJob(logger, { forwardJobLogs: false })
  expect(lines.map(({ msg }) => msg)).not.toContain('sending')
})

test('N2 a logger with the message first, console and a function get their own argument order', async () => {
  const args: unknown[][] = []
  const hear = (...all: unknown[]): void => void args.push(all)
  const levels = { debug: hear, info: hear, warn: hear, error: hear }
  // Like winston's logger, which also has children.
  await logOfJob({ ...levels, child: () => levels, transports: [], log: hear } as LogOption)
  expect(args.find(([message]) => message === 'sending')?.[1]).toMatchObject({ kind: 'mail', attempt: 1 })
  args.length = 0
  await logOfJob(hear)
  expect(args.find(([, message]) => message === 'details')).toMatchObject([
    'debug',
    'details',
    { kind: 'mail' },
  ])
  const info = vi.spyOn(console, 'info').mockReturnValue()
  onTestFinished(() => info.mockRestore())
  loggerFor(console)?.info('a\u001B[2Jb', { n: 1 })
  expect(info.mock.calls).toEqual([['a\\u001b[2Jb { n: 1 }']])
  const throwing = {
    ...levels,
    info: () => {
      throw new Error('no disk')
    },
  }
  await logOfJob(throwing)
})

test('S3 console gets one escaped text: no format, and no raw characters of errors, symbols and inspect functions', () => {
  const written: unknown[][] = []
  const warn = vi.spyOn(console, 'warn').mockImplementation((...args) => void written.push(args))
  onTestFinished(() => warn.mockRestore())
  const evil = '\u001B]0;title\u0007\u009B31m\u202Ertl\u2028\rcr\nFORGED line'
  const named = Object.assign(new Error('x'), { name: `N${evil}` })
  const stack = Object.assign(new Error('x'), { stack: `Error: x\n    at ${evil}` })
  const inspects = { [Symbol.for('nodejs.util.inspect.custom')]: () => evil }
  const throws = {
    [Symbol.for('nodejs.util.inspect.custom')]: () => {
      throw new Error('cannot be shown')
    },
  }
  const values = [
    evil,
    new Error(evil),
    new Error('x', { cause: new Error(evil) }),
    named,
    stack,
    Symbol(evil),
    new Map([[evil, evil]]),
    Object.defineProperty(() => 1, 'name', { value: evil }),
    inspects,
  ]
  const logger = loggerFor(console)
  for (const value of values) logger?.warn(`%s %j %o %% ${evil}`, { value, [`k${evil}`]: 1 })
  logger?.warn('100 %d', throws)
  expect(written).toHaveLength(values.length + 1)
  for (const args of written) {
    expect(args).toHaveLength(1)
    // Line feeds remain, and the lines after them are indented.
    expect(args[0]).not.toMatch(/[^\P{Cc}\n]|[\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]|\n(?! {8})/u)
  }
  expect(written[0]?.[0]).toMatch(/^%s %j %o %% \\u001b\]0;title/)
  expect(written.at(-1)).toEqual(['100 %d (fields could not be inspected)'])
})

const rejects = async (): Promise<void> => {
  await Promise.resolve()
  throw new Error('log shipper is down')
}
// A promise of another library.
// oxlint-disable-next-line unicorn/no-thenable -- the test is about them
const thenable = (): PromiseLike<void> => ({ then: (...given) => rejects().then(...given) })
const allLevels = (write: () => PromiseLike<void>) => ({
  debug: write,
  info: write,
  warn: write,
  error: write,
})
const isLevelEnabled = (): boolean => true

test('N2 a logger that rejects, even with a foreign promise, crashes no process and fails no job', async () => {
  const lost: unknown[] = []
  const onLost = (error: unknown): void => void lost.push(error)
  process.on('unhandledRejection', onLost)
  onTestFinished(() => void process.off('unhandledRejection', onLost))
  await logOfJob(rejects)
  await logOfJob(thenable)
  await logOfJob(allLevels(rejects))
  await logOfJob(allLevels(thenable))
  await logOfJob({ pino: { ...allLevels(rejects), isLevelEnabled } })
  loggerFor(allLevels(rejects))?.error('of an application', {})
  await new Promise((resolve) => setImmediate(resolve))
  expect(lost).toEqual([])
})

test('N2 rejections of a logger are counted like those of listeners', async () => {
  const hub = eventHub(systemPlatform)
  const logger = loggerFor(async () => Promise.reject(new Error('log shipper is down')))
  if (logger !== null) logEvents(hub, logger)
  hub.on('*', thenable)
  hub.emit('queue-resumed', { queue: 'mail' })
  await hub.delivered()
  await new Promise((resolve) => setImmediate(resolve))
  expect(hub.counts.errors).toBe(2)
})

/** What a logger gets from a handler that logs an error in each way, and what is stored of it. */
async function errorsLogged(log: LogOption) {
  const down = Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' })
  const error = new TypeError('not sent', { cause: down })
  const job = defineJob({
    kind: 'mail',
    run({ log: say }) {
      say('sending failed', { to: 'ada', err: down })
      // Types refuse it, and plain JavaScript does not.
      say.error('er', error as never)
      say('nested', { list: [{ of: down }] })
    },
  })
  const mill = jobmill({ store: sqlite(':memory:'), jobs: [job], log })
  onTestFinished(async () => void (await mill.stop({ grace: 0 })))
  await mill.start()
  const handle = await mill.enqueue(job, null)
  await handle.result()
  const [attempt] = await mill.history(handle.id)
  await mill.stop()
  return { down, error, stored: attempt?.log.map(({ fields }) => fields) }
}

const STACK: unknown = expect.stringContaining('log-events.test.ts')
const DOWN = { name: 'Error', message: 'connection refused', code: 'ECONNREFUSED', stack: STACK }
const LOGGED = [
  { to: 'ada', err: DOWN },
  { err: { name: 'TypeError', message: 'not sent', stack: STACK, cause: DOWN } },
  { list: [{ of: DOWN }] },
]

test('N3 errors in the fields of a handler are stored, passed to loggers unchanged, and also as plain data', async () => {
  const all: Line[] = []
  const hear = (_: string, message: string, fields: object): void => void all.push({ message, ...fields })
  const { down, error, stored } = await errorsLogged(hear)
  const lines = all.filter(({ from }) => from === 'handler')
  expect(stored).toEqual(LOGGED)
  expect(lines.map(({ fields }) => fields)).toEqual(LOGGED)
  expect(lines.map(({ err }) => err)).toEqual([down, error, undefined])
  expect(lines[0]?.['err']).toBe(down)
})

test('N3 pino and the text log write errors in the fields of a handler with message, code and stack', async () => {
  const lines: Line[] = []
  await errorsLogged(pino({}, { write: (line) => void lines.push(JSON.parse(line) as Line) }))
  const own = lines.filter(({ from }) => from === 'handler')
  expect(own.map(({ fields }) => fields)).toEqual(LOGGED)
  expect(own[0]?.['err']).toMatchObject({ type: 'Error', message: 'connection refused', stack: STACK })
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  try {
    await errorsLogged('info')
    const texts = written.mock.calls.map(([text]) => String(text)).filter((text) => text.includes('1 of '))
    const json = texts.map((text) => JSON.parse(text.slice(text.indexOf('{'))) as unknown)
    expect(json).toEqual(LOGGED)
  } finally {
    written.mockRestore()
  }
})

test('N3 the text log has the lines of handlers and, below the error, its stack', async () => {
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  try {
    const id = await logOfJob('info')
    const lines = written.mock.calls
      .map(([text]) => String(text))
      .join('')
      .split('\n')
    const at = lines.findIndex((line) => line.startsWith('jobmill error '))
    expect(lines).toContain(
      `jobmill info  job mail ${id} in default (attempt 1 of 2): sending {"to":"ada","id":"of the mail"}`,
    )
    expect(lines[at]).toMatch(/failed permanently: TypeError: no such host caused by: Error: ENOTFOUND$/)
    expect(lines[at + 1]).toMatch(/^ {8}at /)
    expect(lines.every((line) => /^(?:jobmill (?:info {2}|warn {2}|error ) ?\S| {8}\S|$)/.test(line))).toBe(
      true,
    )
  } finally {
    written.mockRestore()
  }
})

async function deep(): Promise<never> {
  await Promise.resolve()
  throw new Error('deep', { cause: new Error('cause') })
}

test('N3 the stack of a failed attempt ends with the code of the application, in the log and in the history', async () => {
  const logged: unknown[] = []
  const jobs = [
    defineJob({
      kind: 'sync',
      maxAttempts: 1,
      run() {
        throw new Error('at once')
      },
    }),
    defineJob({ kind: 'async', maxAttempts: 1, run: async () => await deep() }),
  ]
  const mill = jobmill({
    store: sqlite(':memory:'),
    jobs,
    log: (_level, _message, { stack }: { stack?: unknown }) =>
      void (stack !== undefined && logged.push(stack)),
  })
  onTestFinished(async () => void (await mill.stop({ grace: 0 })))
  await mill.start()
  const stored: unknown[] = []
  for (const job of jobs) {
    const handle = await mill.enqueue(job, null)
    await handle.result().catch(() => {})
    const [attempt] = await mill.history(handle.id)
    stored.push(attempt?.log.at(-1)?.fields?.['stack'])
  }
  await mill.stop()
  expect(logged).toEqual(stored)
  // Node adds frames of its own between those of async functions.
  const frames = stored.map((stack) => String(stack).match(/^ {4}at (?!.*\(node:).*$/gm) ?? [])
  expect(frames.map((own) => own.length)).toEqual([1, 4])
  for (const frame of frames.flat()) expect(frame).toContain('log-events.test.ts')
})
