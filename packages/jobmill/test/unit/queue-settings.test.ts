/** The settings of a queue: their defaults, and every change that an operator may make or is refused. */
import { expect, test } from 'vitest'
import { DEFAULT_QUEUE_SETTINGS, prepareQueueChange } from '../../src/job/queue/queue-settings.ts'
import { refusal } from './support.ts'

const change = (value: object): ReturnType<typeof prepareQueueChange> => prepareQueueChange(value)

test('a new queue has these defaults', () => {
  expect(DEFAULT_QUEUE_SETTINGS).toEqual({
    workers: null,
    paused: false,
    backoffEnabled: true,
    backoffBaseMs: 10_000,
    backoffMaxMs: 1_800_000,
    retainDoneMs: 604_800_000,
    retainCancelledMs: 604_800_000,
    retainDeadMs: null,
    keepDone: null,
    keepCancelled: null,
    keepDead: null,
    limit: null,
    targetLatencyMs: null,
    groupFair: false,
    groupConcurrency: null,
    groupRate: null,
    groupRatePerMs: null,
  })
  expect(Object.isFrozen(DEFAULT_QUEUE_SETTINGS)).toBe(true)
})

test.each<[object, object]>([
  [{}, {}],
  [{ workers: undefined, paused: undefined, backoff: undefined, retain: undefined, coolFor: undefined }, {}],
  [{ workers: 0 }, { workers: 0 }],
  [{ workers: 10_000 }, { workers: 10_000 }],
  [{ workers: null }, { workers: null }],
  [{ paused: true }, { paused: true }],
  [{ backoff: {} }, {}],
  [{ backoff: { enabled: false } }, { backoffEnabled: false }],
  [{ backoff: { base: '5s' } }, { backoffBaseMs: 5_000 }],
  [{ backoff: { max: 0 } }, { backoffMaxMs: 0 }],
  [{ backoff: { base: '1m', max: '1m' } }, { backoffBaseMs: 60_000, backoffMaxMs: 60_000 }],
  [{ retain: {} }, {}],
  [{ retain: { done: '1d' } }, { retainDoneMs: 86_400_000 }],
  [{ retain: { cancelled: 0, dead: 'forever' } }, { retainCancelledMs: 0, retainDeadMs: null }],
  [{ retain: { done: { for: '1d', most: 100 } } }, { retainDoneMs: 86_400_000, keepDone: 100 }],
  [{ retain: { dead: { most: 0 } } }, { keepDead: 0 }],
  [{ retain: { dead: { for: 'forever' } } }, { retainDeadMs: null }],
  [
    { retain: { done: { most: null }, cancelled: { for: 5, most: 1 } } },
    { keepDone: null, retainCancelledMs: 5, keepCancelled: 1 },
  ],
  [{ retain: { done: {} } }, {}],
  [{ limit: 'smtp' }, { limit: 'smtp' }],
  [{ limit: null }, { limit: null }],
  [{ limit: undefined, retain: { done: { for: undefined, most: undefined } } }, {}],
])('%j changes only what it names', (input, settings) => {
  expect(change(input)).toStrictEqual({ settings, coolMs: null })
})

test('a cool-down is separate from the settings, and 0 ends it', () => {
  expect(change({ coolFor: '30s' })).toStrictEqual({ settings: {}, coolMs: 30_000 })
  expect(change({ coolFor: 0 })).toStrictEqual({ settings: {}, coolMs: 0 })
})

test.each<[object, string, string]>([
  [{ workers: -1 }, 'NUMBER_INVALID', 'queue.workers'],
  [{ workers: 10_001 }, 'NUMBER_INVALID', 'queue.workers'],
  [{ workers: '4' }, 'NUMBER_INVALID', 'queue.workers'],
  [{ paused: 'yes' }, 'OPTION_INVALID', 'queue.paused'],
  [{ paused: null }, 'OPTION_INVALID', 'queue.paused'],
  [{ backoff: true }, 'OPTION_INVALID', 'queue.backoff'],
  [{ backoff: { enabled: 1 } }, 'OPTION_INVALID', 'queue.backoff.enabled'],
  [{ backoff: { base: -1 } }, 'DURATION_INVALID', 'queue.backoff.base'],
  [{ backoff: { max: 'forever' } }, 'DURATION_INVALID', 'queue.backoff.max'],
  [{ backoff: { base: '2m', max: '1m' } }, 'OPTION_CONFLICT', 'queue.backoff.base'],
  [{ backoff: { bse: 1 } }, 'OPTION_UNKNOWN', 'queue.backoff.bse'],
  [{ retain: null }, 'OPTION_INVALID', 'queue.retain'],
  [{ retain: { done: null } }, 'DURATION_INVALID', 'queue.retain.done'],
  [{ retain: { ready: 1 } }, 'OPTION_UNKNOWN', 'queue.retain.ready'],
  [{ retain: { done: { most: -1 } } }, 'NUMBER_INVALID', 'queue.retain.done.most'],
  [{ retain: { done: { most: 10_000_001 } } }, 'NUMBER_INVALID', 'queue.retain.done.most'],
  [{ retain: { dead: { most: 0.5 } } }, 'NUMBER_INVALID', 'queue.retain.dead.most'],
  [{ retain: { dead: { for: -1 } } }, 'DURATION_INVALID', 'queue.retain.dead.for'],
  [{ retain: { dead: { max: 1 } } }, 'OPTION_UNKNOWN', 'queue.retain.dead.max'],
  [{ limit: '' }, 'NAME_INVALID', 'queue.limit'],
  [{ limit: 'my limit' }, 'NAME_INVALID', 'queue.limit'],
  [{ limit: 5 }, 'NAME_INVALID', 'queue.limit'],
  [{ coolFor: 'forever' }, 'DURATION_INVALID', 'queue.coolFor'],
  [{ pause: true }, 'OPTION_UNKNOWN', 'queue.pause'],
])('%j is refused', (input, code, field) => {
  const error = refusal(() => change(input))
  expect(error).toMatchObject({ code, field })
  expect(error.value).toBeDefined()
  expect(error.fix).toBeDefined()
})

test('the errors are readable', () => {
  expect(refusal(() => change({ pause: true })).message).toBe(
    'queue.pause: is not an option (got "pause"). Did you mean "paused"?',
  )
  expect(refusal(() => change({ backoff: { base: '2m', max: '1m' } })).message).toBe(
    'queue.backoff.base: must not be longer than queue.backoff.max (got "2m"). Raise max or lower base.',
  )
})

test('the caller can name the field', () => {
  expect(refusal(() => prepareQueueChange({ workers: -1 }, 'queues.mail')).field).toBe('queues.mail.workers')
})
