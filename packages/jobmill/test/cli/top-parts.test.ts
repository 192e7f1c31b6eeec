/** The parts of `jobmill top`: short numbers, keys, navigation, and frames of any size. */
import { describe, expect, test } from 'vitest'
import { frame, itemsOf } from '../../src/cli/top/live.ts'
import { type Key, keysIn } from '../../src/cli/top/keys.ts'
import { shares, visiblePart } from '../../src/cli/top/pieces.ts'
import type { OneJob, Overview, QueueJobs, View } from '../../src/cli/top/read.ts'
import { shortNumber, shortTime } from '../../src/cli/top/short.ts'
import { placeOf, pressKey, START, type TopState } from '../../src/cli/top/state.ts'
import { jobView } from '../../src/runtime/operate/job-view.ts'
import { policyOf } from '../../src/runtime/operate/policy.ts'
import type { JobRecord } from '../../src/store/types/job-record.ts'

const bare = { paint: (_: unknown, text: string) => text }

function aRecord(n: number): JobRecord {
  const id = `0190c5a0-7e1c-7b6a-9f3e-${String(n).padStart(12, '0')}`
  const names = { id, kind: `kind.${'x'.repeat(n)}`, queue: 'default', state: 'dead', tags: ['日本語'] }
  const times = { enqueuedAt: 0, dueAt: null, startedAt: null, endedAt: 5, timeoutMs: null }
  const texts = {
    payload: '{"a":"b"}',
    metadata: null,
    result: null,
    progress: null,
    log: null,
    error: 'no\nand\nno',
  }
  const rest = {
    priority: 0,
    attempt: 1,
    maxAttempts: 5,
    crashes: 0,
    orderKey: null,
    dedupeKey: null,
    waitsForOrder: false,
    waitsForGroup: false,
    group: null,
  }
  return { ...names, ...times, ...texts, ...rest, instance: null, cancelReason: null } as unknown as JobRecord
}

const jobs = Array.from({ length: 20 }, (_, n) => aRecord(n))

const queues = Array.from({ length: 30 }, (_, n) => ({
  name: `q${'u'.repeat(n)}`,
  paused: n % 3 === 0,
  coolingMs: n % 3 === 1 ? 3_599_000 : 0,
  workers: null,
  limit: null,
  counts: {
    ready: 10 ** n,
    running: n,
    scheduled: 0,
    done: 0,
    dead: 0,
    cancelled: 0,
    oldestReadyMs: 10 ** (n / 2),
  },
  totals: null,
}))

const overview = {
  kind: 'queues',
  at: 0,
  store: `sqlite ${'long/'.repeat(40)}`,
  queues,
  instances: [],
  dead: jobs,
} as unknown as Overview
const queue: QueueJobs = { kind: 'queue', at: 0, queue: 'default', ready: jobs, running: [], dead: jobs }
const shownJob = jobView(aRecord(1))
const policy = policyOf(shownJob, undefined)
const one: OneJob = { kind: 'job', at: 0, id: 'x', job: shownJob, history: [], why: null, policy }

const at = (place: TopState['path'][0]): TopState => ({ path: [place], isHelp: false })
const SCREENS: readonly [string, View, TopState][] = [
  ['queues', overview, START],
  ['nothing', { ...overview, queues: [], dead: [] }, START],
  ['queue', queue, at({ kind: 'queue', queue: 'default', chosen: null })],
  ['job', one, at({ kind: 'job', id: 'x', scrolled: 3 })],
  ['help', overview, { ...START, isHelp: true }],
  ['not read yet', overview, at({ kind: 'job', id: 'y', scrolled: 0 })],
]

describe('frames', () => {
  test.each(SCREENS)('%s: fit into any size', (_, view, state) => {
    for (const columns of [1, 20, 79, 80, 99, 100, 220])
      for (const rows of [1, 5, 12, 24, 80]) {
        const lines = frame(view, state, null, { columns, rows }, bare)
        expect(lines).toHaveLength(rows)
        expect(Math.max(...lines.map((line) => Array.from(line).length))).toBeLessThanOrEqual(columns)
      }
  })

  test('an error replaces the last row', () => {
    const lines = frame(overview, START, 'retrying: it is away\nfor now', { columns: 80, rows: 24 }, bare)
    expect(lines.at(-1)).toBe('retrying: it is away for now')
  })

  test('free rows are shared, and the selected item is always visible', () => {
    expect([
      shares(13, [3, 2, 20]),
      shares(13, [20, 20, 20]),
      shares(2, [5, 5, 5]),
      shares(-3, [1, 1, 1]),
    ]).toEqual([
      [3, 2, 8],
      [5, 4, 4],
      [2, 0, 0],
      [0, 0, 0],
    ])
    for (let chosen = 0; chosen < 10; chosen += 1)
      expect(visiblePart([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], chosen, 4).shown).toContain(chosen)
    expect(visiblePart([1, 2], 0, 4)).toEqual({ from: 0, shown: [1, 2] })
  })
})

describe('numbers', () => {
  test('have at most four columns', () => {
    for (let n = 0.01; n < 1e8; n *= 1.37) expect(shortNumber(n).length).toBeLessThanOrEqual(4)
    for (let ms = 0.01; ms < 8e9; ms *= 1.13) expect(shortTime(ms).length).toBeLessThanOrEqual(4)
    expect([0, 0.45, 9.99, 999.9, 9_999, 123_456, 9_999_999, 5e7].map(shortNumber)).toEqual([
      '0',
      '0.4',
      '9.9',
      '999',
      '9.9k',
      '123k',
      '9.9M',
      '50M',
    ])
    expect([null, 3.4, 99.9, 250, 9_990, 45_000, 100_000, 7_200_000, 864_000_000].map(shortTime)).toEqual([
      '-',
      '3ms',
      '99ms',
      '0.2s',
      '9.9s',
      '45s',
      '1m',
      '2h',
      '10d',
    ])
  })
})

function press(state: TopState, keys: readonly Key[], items: readonly string[]): TopState {
  return keys.reduce((now, key) => pressKey(now, key, items, 5).state, state)
}

describe('keys', () => {
  test('are parsed from any input chunk', () => {
    expect(keysIn('\u001B[A\u001B[Bjk\r\u001B[5~\u001B[1;5Ax\u001BOB\u001B')).toEqual([
      'up',
      'down',
      'down',
      'up',
      'enter',
      'page-up',
      'down',
      'back',
    ])
    expect(keysIn('\u0003')).toEqual(['quit'])
  })

  test('navigate through the screens, within the existing items', () => {
    const names = ['a', 'b', 'c']
    expect(placeOf(press(START, ['down', 'down', 'down', 'down'], names))).toMatchObject({ chosen: 'c' })
    expect(placeOf(press(START, ['last', 'page-up'], names))).toMatchObject({ chosen: 'a' })
    expect(press(START, ['enter', 'back', 'back', 'up'], [])).toMatchObject({ path: [{ kind: 'queues' }] })
    const inside = press(START, ['down', 'enter'], names)
    expect(inside.path).toEqual([
      { kind: 'queues', chosen: 'b' },
      { kind: 'queue', queue: 'b', chosen: null },
    ])
    const job = press(inside, ['enter'], ['id'])
    expect(placeOf(job)).toEqual({ kind: 'job', id: 'id', scrolled: 0 })
    expect(placeOf(press(job, ['last'], itemsOf(one)))).toMatchObject({ scrolled: itemsOf(one).length - 5 })
    expect(pressKey(START, 'pause', names, 5).act).toBe('toggle')
    expect([pressKey(START, 'pause', [], 5).act, pressKey(inside, 'pause', ['id'], 5).act]).toEqual([
      null,
      null,
    ])
    // The help opens, and any key closes it.
    expect([press(START, ['help'], names).isHelp, press(START, ['help', 'down'], names)]).toEqual([
      true,
      START,
    ])
  })
})
