/**
 * Calls every public method with arguments of the wrong type. Each must fail with a JobmillError that names
 * the field, never with a plain TypeError.
 */
import { describe, expect, test } from 'vitest'
import { declareJob } from '../../src/index.ts'
import { isJobmillError, quote } from '../../src/job/errors.ts'
import { type TestMill, testMill } from '../../src/testing/index.ts'

const ID = '01890000-0000-7000-8000-000000000001'

/** Values that are invalid for an argument, listed by the type that the argument expects. */
const NEITHER = [null, true, 7n, Symbol('x'), Number.NaN]
const WRONG = {
  text: [...NEITHER, 7, {}, ['x'], () => 'x', { toString: () => ID }],
  names: [...NEITHER, 7, {}, () => 'x', [], [7], [['x']]],
  count: [...NEITHER, '7', {}, [7], () => 7, -1, 1.5],
  instant: [...NEITHER, '7', {}, [7], () => 7, 1.5],
  object: [...NEITHER, 7, 'x', [{}], () => ({}), new Map(), { unknown: 1 }],
  list: [...NEITHER, 7, 'x', {}, () => [], new Map(), new String('x')],
  signal: [...NEITHER, 7, 'x', {}, [], () => {}, new AbortController()],
  act: [...NEITHER, 7, {}, ['explode'], 'explode'],
  function: [...NEITHER, 7, 'x', {}, []],
} as const
type Type = keyof typeof WRONG

interface Method {
  /** How to call the method, where that differs from passing the arguments to the method of that name. */
  readonly call: ((mill: TestMill, value: never) => unknown) | undefined
  readonly right: readonly unknown[]
  readonly types: readonly (Type | null)[]
}

function method(
  types: readonly (Type | null)[],
  right: readonly unknown[],
  call?: (mill: TestMill, value: never) => unknown,
): Method {
  return { types, right, call }
}

const ORDER = declareJob({ kind: 'order' })
const FILTER = { queue: 'q' }
const NEVER = new AbortController().signal
const ENTRY = { who: 'ada', role: 'admin', what: 'queues.pause', target: 'mail', before: null, after: null }

const METHODS: Readonly<Record<string, Method>> = {
  enqueue: method(['text', null, 'object'], ['k', 1, {}]),
  'enqueue.queue': method(['text'], ['q'], (mill, queue) => mill.enqueue('k', 1, { queue })),
  run: method(['text', null, 'object'], ['k', 1, {}]),
  'run.signal': method(['signal'], [NEVER], (mill, signal) => mill.run('k', 1, { signal })),
  enqueueMany: method(['text', 'list', 'object'], ['k', [], {}]),
  get: method(['text'], [ID]),
  holder: method(['text'], ['key']),
  policy: method(['object'], [{ kind: 'k', queue: 'q', timeoutMs: null, maxAttempts: 5 }]),
  history: method(['text'], [ID]),
  list: method(['object', 'object'], [{}, {}]),
  'list.queue': method(['names'], ['q'], (mill, queue) => mill.list({ queue })),
  'list.kind': method(['names'], ['q'], (mill, kind) => mill.list({ kind })),
  count: method(['object', 'object'], [{}, {}]),
  'list.include': method(['list'], [[]], (mill, include) => mill.list({}, { include })),
  'list.mostScanned': method(['count'], [7], (mill, mostScanned) => mill.list({}, { mostScanned })),
  'list.endedFrom': method(['instant'], [7], (mill, endedFrom) => mill.list({ endedFrom })),
  'list.failedFrom': method(['instant'], [7], (mill, failedFrom) => mill.list({ failedFrom })),
  'list.startedBefore': method(['instant'], [7], (mill, startedBefore) => mill.list({ startedBefore })),
  'list.group': method(['text'], ['q'], (mill, group) => mill.list({ group })),
  'list.orderKey': method(['text'], ['q'], (mill, orderKey) => mill.list({ orderKey })),
  'list.dedupeKey': method(['text'], ['q'], (mill, dedupeKey) => mill.list({ dedupeKey })),
  'list.states': method(['list'], [[]], (mill, state) => mill.list({ state: [state] })),
  'list.state': method(['act'], ['dead'], (mill, state) => mill.list({ state })),
  'list.tags': method(['list'], [['q']], (mill, tags) => mill.list({ tags })),
  'list.payloadAt': method(['list'], [[]], (mill, payloadAt) => mill.list({ payloadAt })),
  'list.indexedPayload': method(['list'], [[]], (mill, indexedPayload) => mill.list({ indexedPayload })),
  'list.payloadText': method(['text'], ['q'], (mill, payloadText) => mill.list({ payloadText })),
  'list.errorText': method(['text'], ['q'], (mill, errorText) => mill.list({ errorText })),
  'list.enqueuedFrom': method(['instant'], [7], (mill, enqueuedFrom) => mill.list({ enqueuedFrom })),
  'list.limit': method(['count'], [7], (mill, limit) => mill.list({}, { limit })),
  'list.cursor': method(['text'], ['q'], (mill, cursor) => mill.list({}, { cursor })),
  retry: method(['text'], [ID]),
  runNow: method(['text'], [ID]),
  delete: method(['text'], [ID]),
  cancel: method(['text'], [ID]),
  'cancel.reason': method(['object'], [{}], (mill, reason) =>
    // A string is the short form of { reason }.
    typeof reason === 'string' ? mill.cancel(ID, { reason: 7 } as never) : mill.cancel(ID, reason),
  ),
  pause: method(['text', 'object'], ['default', {}]),
  quietInstance: method(['text', 'object'], [ID, {}]),
  resumeInstance: method(['text', 'object'], [ID, {}]),
  stopInstance: method(['text', 'object'], [ID, {}]),
  resume: method(['text', 'object'], ['default', {}]),
  changeQueue: method(['text', 'object', 'object'], ['default', {}, {}]),
  'changeQueue.by': method(['text'], ['x'], (mill, by) => mill.changeQueue('default', {}, { by })),
  resetOverrides: method(['object'], [{}]),
  'resetOverrides.what': method(['act'], ['queue'], (mill, what) => mill.resetOverrides({ what })),
  'resetOverrides.name': method(['text'], ['q'], (mill, name) =>
    mill.resetOverrides({ what: 'queue', name }),
  ),
  'resetOverrides.option': method(['text'], ['workers'], (mill, option) =>
    mill.resetOverrides({ what: 'queue', name: 'default', option }),
  ),
  why: method(['text'], [ID]),
  errors: method(['object'], [{}]),
  'errors.queue': method(['names'], ['q'], (mill, queue) => mill.errors({ queue })),
  'bulk.preview': method(['act', 'object', 'object'], ['retry', FILTER, {}]),
  'bulk.upToNow': method(['object'], [FILTER]),
  'bulk.run': method(['act', 'object', 'object'], ['retry', FILTER, {}]),
  'bulk.run.signal': method(['signal'], [NEVER], (mill, signal) =>
    mill.bulk.run('retry', FILTER, { signal }),
  ),
  'bulk.preview.signal': method(['signal'], [NEVER], (mill, signal) =>
    mill.bulk.preview('retry', FILTER, { signal }),
  ),
  'count.signal': method(['signal'], [NEVER], (mill, signal) => mill.count(FILTER, { signal })),
  'bulk.run.reason': method(['text'], ['x'], (mill, reason) => mill.bulk.run('cancel', FILTER, { reason })),
  'audit.write': method(['object'], [{}]),
  'audit.write.who': method(['text'], ['x'], (mill, who) => mill.audit.write({ ...ENTRY, who })),
  'audit.list': method(['object'], [{}]),
  'audit.list.cursor': method(['text'], ['1'], (mill, cursor) => mill.audit.list({ cursor })),
  metrics: method(['object'], [{}]),
  'metrics.queues': method(['list'], [[]], (mill, queues) => mill.metrics({ queues })),
  timeline: method(['object'], [{}]),
  'timeline.types': method(['list'], [[]], (mill, types) => mill.timeline({ types })),
  'timeline.queue': method(['text'], ['q'], (mill, queue) => mill.timeline({ queue })),
  'timeline.job': method(['text'], [ID], (mill, job) => mill.timeline({ job })),
  'timeline.cursor': method(['text'], ['1'], (mill, cursor) => mill.timeline({ cursor })),
  'groups.list': method(['text', 'object'], ['q', {}]),
  'groups.get': method(['text', 'text'], ['q', 'g']),
  'groups.update': method(['text', 'text', 'object', 'object'], ['q', 'g', { weight: 2 }, {}]),
  'groups.pause': method(['text', 'text', 'object'], ['q', 'g', {}]),
  'groups.resume': method(['text', 'text', 'object'], ['q', 'g', {}]),
  'limits.create': method(['text', 'object', 'object'], ['l', { concurrency: 1 }, {}]),
  'limits.change': method(['text', 'object', 'object'], ['smtp', {}, {}]),
  'limits.delete': method(['text'], ['l']),
  sendEvent: method(['text', 'text', null, 'object'], [ID, 'paid', 1, {}]),
  'sendEvent.dedupeKey': method(['text'], ['key'], (mill, dedupeKey) =>
    mill.sendEvent({ dedupeKey }, 'paid'),
  ),
  'sendEvent.job': method(['text'], [ID], (mill, id) => mill.sendEvent(ORDER, id, 'paid')),
  steps: method(['text'], [ID]),
  parentOf: method(['text'], [ID]),
  rewind: method(['text', 'object'], [ID, { from: 'a' }]),
  fork: method(['text', 'object'], [ID, { from: 'a' }]),
  'views.add': method(['object'], [{ name: 'a', search: 'queue=a' }]),
  'views.delete': method(['text'], ['a']),
  'alerts.set': method(['text', 'object'], ['a', {}]),
  'alerts.delete': method(['text'], ['a']),
  'alerts.test': method(['text'], ['a']),
  'limits.drain': method(['text', 'object'], ['smtp', {}]),
  limit: method(['text'], ['smtp'], (mill, name) => mill.limit(name).tryAcquire()),
  'limit of': method(['object'], [{}], (mill, of) => mill.limit('smtp', of).tryAcquire()),
  'limit.acquire': method(['object'], [{}], (mill, draw) => mill.limit('smtp').acquire(draw)),
  'limit.acquire.signal': method(['signal'], [NEVER], (mill, signal) =>
    mill.limit('smtp').acquire({ signal }),
  ),
  'limit.tryAcquire': method(['object'], [{}], (mill, draw) => mill.limit('smtp').tryAcquire(draw)),
  'schedules.get': method(['text'], ['s']),
  'schedules.create': method(['object', 'object'], [{}, {}]),
  'schedules.change': method(['text', 'object', 'object'], ['s', {}, {}]),
  'schedules.pause': method(['text', 'object'], ['s', {}]),
  'schedules.resume': method(['text', 'object'], ['s', {}]),
  'schedules.trigger': method(['text'], ['s']),
  'schedules.delete': method(['text'], ['s']),
  'schedules.nextRuns': method([null, 'count'], ['s', 1]),
  'schedules.nextRuns of': method(['object'], [{}], (mill, of) => mill.schedules.nextRuns(of)),
  'schedules.describe': method(['text', 'text'], ['@daily', 'UTC']),
  'schedules.history': method(['text', 'count'], ['s', 1]),
  job: method(['text'], [ID]),
  'job.result': method(['object'], [{}], (mill, options) => mill.job(ID).result(options)),
  serve: method(['text', 'object'], ['q', {}]),
  runDuty: method(['text'], ['stage']),
  on: method(['text', 'function'], ['done', () => {}]),
  counter: method(['object'], [{}]),
  gauge: method(['object', 'function'], [{ name: 'g', help: 'h' }, () => 1]),
  histogram: method(['object'], [{}]),
  stop: method(['object'], [{}]),
}

/** Members that take no arguments, are not methods, or exist only on a test mill. */
const WITHOUT_ARGUMENTS = [
  'open',
  'start',
  'wake',
  'drift',
  'overrides',
  'prometheus',
  'instance',
  'queuesServed',
  'storeName',
  'warnings',
  'eventCounts',
  'readiness',
  'queues',
  'counts',
  'instances',
  'versions',
  'unservedKinds',
  'capacity',
  'recentRuns',
  'diagnostics',
  'health',
  'resources',
  'kinds',
  'system',
  'duties',
  'slots',
  'recover',
  'retain',
  'alerts.list',
  'views.list',
  'limits.list',
  'schedules.list',
  'schedules.listWithStates',
]
const OF_THE_TEST = [
  'platform',
  'clock',
  'store',
  'events',
  'enqueued',
  'drain',
  'advance',
  'jump',
  'setNow',
  'failures',
]

function callByName(mill: TestMill, name: string, args: readonly unknown[]): unknown {
  const path = name.split('.')
  const of = path.slice(0, -1).reduce<object>((parent, key) => Reflect.get(parent, key) as object, mill)
  return Reflect.apply(Reflect.get(of, path.at(-1) ?? '') as () => unknown, of, args)
}

async function failureOf(call: () => unknown): Promise<unknown> {
  try {
    await call()
    return null
  } catch (error) {
    return error
  }
}

describe('arguments', () => {
  test('N20 every method refuses a wrong type with the name of the field', async () => {
    const mill = await testMill({ serve: ['default'], limits: { smtp: { concurrency: 1 } } })
    const wrong: string[] = []
    for (const [name, { call, right, types }] of Object.entries(METHODS))
      for (const [at, type] of types.entries())
        for (const value of type === null ? [] : WRONG[type]) {
          const args = right.map((one, n) => (n === at ? value : one))
          const error = await failureOf(() =>
            call === undefined ? callByName(mill, name, args) : call(mill, value as never),
          )
          if (isJobmillError(error) && (error.field ?? error.problems) !== undefined) continue
          const text = quote(value)
          wrong.push(`${name}[${at}] ${text}: ${error === null ? 'accepted' : quote(error)}`)
        }
    await mill.stop()
    expect(wrong).toEqual([])
  })

  test('N20 the table lists every method', async () => {
    const mill = await testMill({ serve: ['default'] })
    const members = (of: object, prefix = ''): string[] =>
      Object.entries(of).flatMap(([key, value]) =>
        ['alerts', 'bulk', 'audit', 'groups', 'limits', 'schedules', 'views'].includes(key)
          ? members(value as object, `${key}.`)
          : [prefix + key],
      )
    const known = [...Object.keys(METHODS), ...WITHOUT_ARGUMENTS, ...OF_THE_TEST]
    expect(
      [...members(mill), ...members(Object.getPrototypeOf(mill) as object)].filter(
        (name) => !known.includes(name),
      ),
    ).toEqual([])
    await mill.stop()
  })

  test('an unknown option of enqueue is refused with the list of options', async () => {
    const mill = await testMill({ serve: ['default'] })
    const options =
      'id, queue, priority, maxAttempts, delay, runAt, timeout, tags, metadata, dedupe, debounce, orderKey, group, dedupeKey'
    const refused = { code: 'OPTION_UNKNOWN' }
    await expect(mill.enqueue('k', 1, { colour: 1 } as never)).rejects.toMatchObject({
      ...refused,
      message: `job.colour: is not an option (got "colour"). Use one of: ${options}, tx.`,
    })
    const items = [{ payload: 1 }, { payload: 2, colour: 1 } as never]
    await expect(mill.enqueueMany('k', items)).rejects.toMatchObject({
      ...refused,
      index: 1,
      message: `items[1].colour: is not an option (got "colour"). Use one of: payload, ${options}.`,
    })
    await mill.stop()
  })

  test.each([
    ['uniqueKey', '"dedupeKey"'],
    ['jobKey', '"dedupeKey"'],
    ['singletonKey', '"dedupeKey"'],
    ['dedupKey', '"dedupeKey"'],
    ['startAfter', '"delay" or "runAt"'],
    ['runIn', '"delay"'],
    ['attempts', '"maxAttempts"'],
    ['retryLimit', '"maxAttempts"'],
    ['retries', '"maxAttempts"'],
  ])('enqueue with %s suggests %s', async (option, near) => {
    const mill = await testMill({ serve: ['default'] })
    await expect(mill.enqueue('k', 1, { [option]: 1 })).rejects.toMatchObject({
      code: 'OPTION_UNKNOWN',
      fix: `Did you mean ${near}?`,
    })
    await mill.stop()
  })
})
