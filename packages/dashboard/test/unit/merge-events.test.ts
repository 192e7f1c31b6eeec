/** Which of the latest events are shown once, and the sentence of an audit entry. */
import { expect, test } from 'vitest'
import { auditWords } from '../../src/kit/text/audit-words.ts'
import { mergeEvents } from '../../src/pages/overview/merge-events.ts'
import { navCounts } from '../../src/shell/nav-counts.ts'

let n = 100

const event = (type: string, at: number, how: object = {}) => ({
  n: (n -= 1),
  at,
  type,
  instance: 'a',
  queue: null,
  job: null,
  data: {},
  ...how,
})

test('several processes that report one event are one line, with their number', () => {
  const forMs = { data: { forMs: 3_000 }, queue: 'mail' }
  const merged = mergeEvents([
    event('queue-cooling', 30_000, { ...forMs, instance: 'b', data: { forMs: 2_900 } }),
    event('queue-cooling', 29_000, forMs),
    event('queue-cooling', 10_000, forMs),
    event('queue-cooling', 9_000, { ...forMs, queue: 'slow' }),
  ])
  expect(merged.map(({ event: { queue, at }, processes }) => [queue, at, processes])).toEqual([
    ['mail', 30_000, 2],
    ['mail', 10_000, 1],
    ['slow', 9_000, 1],
  ])
})

test('events of processes about themselves stay apart, and an audit entry replaces what processes saw', () => {
  const merged = mergeEvents([
    event('queue-changed', 12_000, { queue: 'mail', instance: 'b' }),
    event('queue-changed', 11_000, { queue: 'mail' }),
    event('audit', 10_000, { queue: 'mail' }),
    event('queue-changed', 11_000, { queue: 'other' }),
    event('instance-back', 9_000, { instance: 'b' }),
    event('instance-back', 8_000),
  ])
  expect(merged.map(({ event: { type, queue } }) => [type, queue])).toEqual([
    ['audit', 'mail'],
    ['queue-changed', 'other'],
    ['instance-back', null],
    ['instance-back', null],
  ])
})

test.each([
  [{ what: 'queues.pause', target: 'mail', before: { paused: false } }, 'ada paused queue mail'],
  [
    {
      what: 'queues.change',
      target: 'mail',
      before: { workers: 2, limit: null, paused: false },
      after: { workers: 7, limit: 'smtp', paused: false, added: 1 },
    },
    'ada changed queue mail: workers 2 → 7, limit none → smtp',
  ],
  [
    {
      what: 'schedules.change',
      target: 's',
      before: { a: 1, b: 1, c: 1, d: 1, e: 1 },
      after: { a: 2, b: 2, c: { long: 'x'.repeat(99) }, d: 2, e: 2 },
    },
    `ada changed schedule s: a 1 → 2, b 1 → 2, c 1 → {"long":"${'x'.repeat(30)}…, 2 more`,
  ],
  [{ what: 'queues.change', target: 'mail', before: '(hidden)', after: null }, 'ada changed queue mail'],
  [{ what: 'new.thing', target: 'mail' }, 'ada: new.thing on mail'],
  [{}, 'ada: ? on ?'],
])('an audit entry %j is described', (data, words) => {
  expect(auditWords({ who: 'ada', ...data })).toBe(words)
})

test('the menu counts issues without notices, dead jobs, and kinds without a worker', () => {
  const overview = {
    problems: { error: 0, warning: 2, notice: 9 },
    queues: [{ counts: { dead: 1_000 } }, { counts: { dead: 291 } }],
    unservedKinds: [{ kind: 'x' }],
  }
  expect([...navCounts(overview as never)]).toEqual([
    ['/', { n: 2, label: '2 issues', isBad: false }],
    ['/errors', { n: 1_291, label: '1,291 dead jobs', isBad: true }],
    ['/workers', { n: 1, label: '1 kind without a worker', isBad: true }],
  ])
  expect(navCounts(undefined).size).toBe(0)
})
