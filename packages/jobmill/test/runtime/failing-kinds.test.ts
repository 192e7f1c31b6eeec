// Which kinds and queues are failing, how problems are ranked, and how they are put into words.
import { describe, expect, test } from 'vitest'
import { runChecks, worstFirst } from '../../src/runtime/diagnose/check.ts'
import {
  type ExplainedKind,
  type Explanation,
  failingKinds,
  failingText,
  levelOf,
} from '../../src/runtime/diagnose/failing-kinds.ts'
import { failingSince, firstSeenWith } from '../../src/runtime/diagnose/failing-since.ts'
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
  parked: 0,
  throttled: 0,
  interrupted: 0,
}
const running = { count: 0, p50: null, p95: null, p99: null }

/**
 * The attempts of each minute, oldest first, as `done/failed`, or `done/failed@version` for each of several
 * versions. A dash is a minute without attempts.
 */
function aSeries(kind: string, minutes: readonly string[]): KindSeries {
  const points = minutes.flatMap((text, n) => {
    if (text === '-') return []
    const parts = text.split(' ').map((part) => {
      const [counts = '', version = ''] = part.split('@')
      const [done = 0, failed = 0] = counts.split('/').map(Number)
      return { version, done, failed }
    })
    const byVersion = Object.fromEntries(
      parts.map(({ version, done, failed }) => [version, { attempts: done + failed, failed }]),
    )
    const done = parts.reduce((sum, one) => sum + one.done, 0)
    const retried = parts.reduce((sum, one) => sum + one.failed, 0)
    const at = LAST - (minutes.length - 1 - n) * MINUTE
    return [{ at, ended: { ...NONE, done, retried }, running, workerMs: 0, byVersion }]
  })
  const ended = points.reduce(
    (sum, { ended: { done, retried } }) => ({
      ...sum,
      done: sum.done + done,
      retried: sum.retried + retried,
    }),
    NONE,
  )
  return { kind, points, all: { ended, running, workerMs: 0, byVersion: {} } }
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
    // A few attempts that work by chance, or because the cause has just been fixed, do not end the search.
    [['90/0', '0/9', '1/0', '0/9', '2/0'], 3],
    [['90/0', '0/90', '0/90', '0/90', '20/0'], 3],
  ])('that did %j fail since the minute %s before now', (minutes, ago) => {
    const { points } = aSeries('charge', minutes)
    const since = failingSince(points, 0.9, LAST - 4 * MINUTE)
    expect(since === null ? null : (LAST - since) / MINUTE).toBe(ago)
  })

  test('of which few attempts fail: a minute without failures does not end the search', () => {
    const { points } = aSeries('charge', ['99/0', '99/0', '44/6', '9/0', '44/6', '1/0'])
    expect(failingSince(points, 0.12, LAST - 9 * MINUTE)).toBe(LAST - 3 * MINUTE)
  })

  test.each<[what: string, minutes: string[], version: string | null]>([
    ['a deploy broke it', ['90/1@2.14', '9/0@2.14 0/90@2.15', '0/90@2.15'], '2.15'],
    [
      'a part of the processes was replaced',
      ['90/0@2.14', '45/0@2.14 0/45@2.15', '45/0@2.14 0/45@2.15'],
      '2.15',
    ],
    ['the next deploy did not fix it', ['90/0@2.13', '0/90@2.14', '0/90@2.15'], '2.14'],
    ['the version worked before', ['90/0@2.14', '90/0@2.15', '0/90@2.15'], null],
    ['all versions fail', ['90/0@2.14 90/0@2.15', '0/90@2.14 0/90@2.15'], null],
    ['there is one version', ['90/0@2.14', '0/90@2.14'], null],
    ['the earlier version hardly ran', ['1/0@2.14', '0/90@2.15'], null],
    ['an old version fails, a later one works', ['90/0@2.15', '0/90@2.13 9/0@2.15'], null],
    ['the versions are unknown', ['90/0@', '0/90@'], null],
  ])('of which the version is known: %s', (_what, minutes, version) => {
    const { points } = aSeries('charge', minutes)
    const sinceAt = failingSince(points, 0.9, LAST - 9 * MINUTE)
    const versions = ['2.15', '2.14', '2.13']
    expect(firstSeenWith(points, { share: 0.9, sinceAt, versions })).toBe(version)
    expect(firstSeenWith(points, { share: 0.9, sinceAt: null, versions })).toBe(null)
  })

  test.each<[Partial<ExplainedKind & Explanation>, string]>([
    [
      { error: 'StripeConnectionError: TLS handshake failed\n    at charge.ts:9' },
      'payments.charge: 100% of 240 attempts failed in the last 10 min, since 02:13 UTC. StripeConnectionError: TLS handshake failed',
    ],
    [
      { firstSeenWith: '2.15.0' },
      'payments.charge: 100% of 240 attempts failed in the last 10 min, since 02:13 UTC, first seen with 2.15.0',
    ],
    [
      { failed: 239, sinceAt: Date.parse('2026-11-18T23:59:00Z') },
      'payments.charge: 99% of 240 attempts failed in the last 10 min, since 2026-11-18 23:59 UTC',
    ],
    [{ explanation: null }, 'payments.charge: 100% of 240 attempts failed in the last 10 min'],
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
      explanation: {
        sinceAt: Date.parse('2026-11-19T02:13:00Z'),
        firstSeenWith: null,
        error: null,
        ...own,
      },
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
