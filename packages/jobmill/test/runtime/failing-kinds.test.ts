// Which kinds and queues are failing, how problems are ranked, and how they are put into words.
import { describe, expect, test } from 'vitest'
import { runChecks, worstFirst } from '../../src/runtime/diagnose/check.ts'
import {
  type ExplainedKind,
  failingKinds,
  failingSince,
  failingText,
  levelOf,
} from '../../src/runtime/diagnose/failing-kinds.ts'
import { queueWord } from '../../src/runtime/diagnose/health.ts'
import type { KindSeries } from '../../src/runtime/report/series.ts'

const MINUTE = 60_000
const NOW = Date.parse('2026-11-19T02:30:20Z')
/** The start of the minute in progress. */
const LAST = NOW - (NOW % MINUTE)

const NONE = {
  done: 0,
  retried: 0,
  dead: 0,
  timedOut: 0,
  cancelled: 0,
  snoozed: 0,
  throttled: 0,
  interrupted: 0,
}
const running = { count: 0, p50: null, p95: null, p99: null }

/** The attempts of each minute, oldest first, as `done/failed`; a dash is a minute without attempts. */
function aSeries(kind: string, minutes: readonly string[]): KindSeries {
  const points = minutes.flatMap((text, n) => {
    if (text === '-') return []
    const [done = 0, retried = 0] = text.split('/').map(Number)
    return [{ at: LAST - (minutes.length - 1 - n) * MINUTE, ended: { ...NONE, done, retried }, running }]
  })
  const ended = points.reduce(
    (sum, { ended: { done, retried } }) => ({
      ...sum,
      done: sum.done + done,
      retried: sum.retried + retried,
    }),
    NONE,
  )
  return { kind, points, all: { ended, running } }
}

describe('the level', () => {
  test.each([
    [9, 9, null],
    [10, 0, null],
    [100, 9, null],
    [10, 1, 'warning'],
    [100, 49, 'warning'],
    [10, 5, 'error'],
    [10_000, 10_000, 'error'],
  ])('of %i attempts of which %i failed is %s', (attempts, failed, level) => {
    expect(levelOf({ attempts, failed })).toBe(level)
  })
})

describe('failing kinds', () => {
  test('come worst first: failing before degraded, then by failures per minute', () => {
    const found = failingKinds(
      [
        aSeries('healthy', ['400/2']),
        aSeries('busy', ['800/200']),
        aSeries('charge', ['0/240']),
        aSeries('rare', ['2/8']),
        aSeries('mail', ['0/30']),
      ],
      NOW,
    )
    expect(found.map(({ kind, level, perMinute }) => [kind, level, perMinute])).toEqual([
      ['charge', 'error', 24],
      ['mail', 'error', 3],
      ['rare', 'error', 0.8],
      ['busy', 'warning', 20],
    ])
  })

  test('do not include a kind that recovered, but one whose few recent attempts say little', () => {
    const kinds = [
      aSeries('fixed', ['0/30', '0/30', '-', '-', '5/0']),
      aSeries('unsure', ['0/30', '0/30', '-', '-', '4/0']),
    ]
    expect(failingKinds(kinds, NOW).map(({ kind }) => kind)).toEqual(['unsure'])
  })

  test.each<[minutes: string[], minutesAgo: number | null]>([
    [['90/0', '90/1', '40/50', '0/90', '0/90'], 2],
    [['90/0', '0/9', '-', '-', '0/90'], 3],
    [['0/9', '0/9', '0/9', '0/9', '0/90'], null],
    [['-', '0/9', '0/9', '0/9', '0/90'], 3],
    [['0/9', '90/0', '0/9', '0/9', '0/90'], 2],
  ])('that did %j fail since the minute %s before now', (minutes, ago) => {
    const { points } = aSeries('charge', minutes)
    const since = failingSince(points, { attempts: 100, failed: 90 }, LAST - 4 * MINUTE)
    expect(since === null ? null : (LAST - since) / MINUTE).toBe(ago)
  })

  test.each<[Partial<ExplainedKind>, string]>([
    [
      { error: 'StripeConnectionError: TLS handshake failed\n    at charge.ts:9' },
      'payments.charge: 100% of 240 attempts failed in the last 10 min, since 02:13 UTC. StripeConnectionError: TLS handshake failed',
    ],
    [
      { failed: 239, sinceAt: Date.parse('2026-11-18T23:59:00Z') },
      'payments.charge: 99% of 240 attempts failed in the last 10 min, since 2026-11-18 23:59 UTC',
    ],
    [
      { sinceAt: null, error: 'x'.repeat(200) },
      `payments.charge: 100% of 240 attempts failed in the last 10 min, for more than 6 h. ${'x'.repeat(159)}…`,
    ],
  ])('are described: %j', (own, text) => {
    const one: ExplainedKind = {
      kind: 'payments.charge',
      attempts: 240,
      failed: 240,
      perMinute: 24,
      level: 'error',
      sinceAt: Date.parse('2026-11-19T02:13:00Z'),
      error: null,
      ...own,
    }
    expect(failingText(one, NOW)).toBe(text)
  })
})

const found = (message: string, how: object = {}) => ({ message, fix: 'Fix it', name: 'x', ...how })

describe('problems', () => {
  test('are ordered by level, then by failures per minute, then by the order of the checks', () => {
    const checks = [
      {
        check: 'settings',
        about: null,
        find: () => [found('drift', { level: 'notice' }), { message: 'fine' }],
      },
      { check: 'paused', about: null, find: () => [found('late'), found('paused')] },
      {
        check: 'dead',
        about: null,
        find: () => [found('mail', { weight: 2 }), found('slow', { weight: 9 })],
      },
      { check: 'failing', about: null, find: () => [found('charge', { level: 'error', weight: 1 })] },
    ] as const
    expect(worstFirst(runChecks(checks, {})).map(({ level, message }) => [level, message])).toEqual([
      ['error', 'charge'],
      ['warning', 'slow'],
      ['warning', 'mail'],
      ['warning', 'late'],
      ['warning', 'paused'],
      ['notice', 'drift'],
    ])
  })
})

describe('the health of a queue', () => {
  const queue = { paused: false, workers: 4, coolingMs: 0 }
  const ready = { ready: 3, oldestReadyMs: 1_000 }
  test.each([
    ['ok', {}, ready, true, null],
    ['ok', { workers: null }, undefined, true, null],
    ['ok', {}, { ready: 0, oldestReadyMs: null }, false, null],
    ['ok', { workers: 0 }, { ready: 0, oldestReadyMs: null }, true, null],
    ['paused', { paused: true }, ready, false, 'error'],
    ['no-workers', {}, ready, false, 'error'],
    ['no-workers', { workers: 0 }, ready, true, null],
    ['failing', { coolingMs: 9 }, ready, true, 'error'],
    ['cooling', { coolingMs: 9 }, ready, true, 'warning'],
    ['degraded', {}, ready, true, 'warning'],
    ['degraded', {}, { ready: 1, oldestReadyMs: 300_001 }, true, null],
  ] as const)('is %s: %j, %j, served: %s, level %s', (word, own, counts, isServed, level) => {
    expect(queueWord({ ...queue, ...own }, counts, isServed, level)).toBe(word)
  })
})
