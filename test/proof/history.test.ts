/**
 * Tests the history checker: it accepts a correct history, and reports each guarantee that is broken on
 * purpose.
 */
import { describe, expect, test } from 'vitest'
import { checkHistory } from '../../proof/history/check.ts'
import type { Entry } from '../../proof/history/entry.ts'

type What = Entry extends infer E ? (E extends { readonly at: number } ? Omit<E, 'at'> : never) : never

/** The entries are one millisecond apart. */
function history(...entries: readonly What[]): Entry[] {
  return entries.map((entry, n): Entry => ({ ...entry, at: n }))
}

const written = (job: string, over: Partial<Extract<What, { what: 'written' }>> = {}): What => ({
  what: 'written',
  job,
  queue: 'default',
  kind: 'work',
  priority: 0,
  isReady: true,
  ...over,
})
const acknowledged = (job: string): What => ({ what: 'acknowledged', job })
const claimed = (job: string, token: number, instance = 'one'): What => ({
  what: 'claimed',
  job,
  token,
  instance,
})
const started = (job: string, token: number): What => ({
  what: 'started',
  job,
  token,
  instance: 'one',
  heldUpMs: 0,
})
/** Leased, with its handler called. */
const claimedAndStarted = (job: string, token: number): What[] => [claimed(job, token), started(job, token)]
const effect = (job: string, token: number, awakeMs = 1_000): What => ({
  what: 'effect',
  job,
  token,
  instance: 'one',
  awakeMs,
})
const ended = (job: string, token: number): What => ({ what: 'ended', job, token, instance: 'one' })
const keeps = (doneMs: number): What => ({ what: 'keeps', queue: 'default', doneMs })
const done = (job: string, token: number): What => ({
  what: 'finished',
  job,
  token,
  accepted: true,
  state: 'done',
})
const refused = (job: string, token: number): What => ({
  what: 'finished',
  job,
  token,
  accepted: false,
  state: null,
})
const takenBack = (job: string, instance = 'one'): What => ({
  what: 'taken back',
  job,
  state: 'ready',
  instance,
})
const cancelled = (job: string): What => ({ what: 'cancelled', job, askedAt: 0 })
const asked = (job: string): What => ({ what: 'cancel asked', job })
const retried = (job: string): What => ({ what: 'retried', job })
const look = (jobs: Readonly<Record<string, string>>, isLast = true): What => ({
  what: 'look',
  jobs: new Map(Object.entries(jobs)) as Extract<What, { what: 'look' }>['jobs'],
  isLast,
})
const keyed = (job: string, holdMs = 0, holdAfter: 'done' | 'ended' = 'done'): What =>
  written(job, { key: { key: 'k', holdMs, holdAfter } })
const grant = (limit: string, holder: string, amount = 1): What => ({
  what: 'granted',
  limit,
  holder,
  amount,
})
const outage = (isOver: boolean): What => ({ what: 'outage', isOver })
const pause = (isPaused: boolean): What => ({ what: 'paused', queue: 'default', isPaused })
const quieted = (isQuiet: boolean): What => ({ what: 'quieted', instance: 'one', isQuiet })
const promised = (until: number): What => ({ what: 'alive', instance: 'one', until })
const ticked = (instant: number): What => ({ what: 'ticked', schedule: 'hourly', instant })
const rulesOf = (...entries: readonly What[]): string[] =>
  checkHistory(history(...entries)).map(({ rule }) => rule)

/** A history with a crash, a stale write, a cancel and a restart. */
const GOOD: readonly What[] = [
  written('a'),
  acknowledged('a'),
  written('b'),
  written('c', { priority: -1 }),
  acknowledged('b'),
  acknowledged('c'),
  claimed('c', 1),
  claimed('a', 2),
  started('c', 1),
  started('a', 2),
  effect('c', 1),
  done('c', 1),
  takenBack('a'),
  claimed('a', 3, 'two'),
  started('a', 3),
  effect('a', 2),
  refused('a', 2),
  { what: 'restarted' },
  look({ a: 'running', b: 'ready', c: 'done' }, false),
  done('a', 3),
  { ...done('a', 3), again: true } as What,
  asked('b'),
  { what: 'withdrawn', job: 'b' },
  cancelled('b'),
  { what: 'limit set', limit: 'seats', allows: { most: 2 } },
  { what: 'granted', limit: 'seats', holder: 'a', amount: 2 },
  { what: 'given back', limit: 'seats', holder: 'a' },
  { what: 'granted', limit: 'seats', holder: 'b', amount: 1 },
  { what: 'limit set', limit: 'rate', allows: { amount: 1, perMs: 2, burst: 1 } },
  { what: 'granted', limit: 'rate', holder: 'a', amount: 1 },
  { what: 'ticked', schedule: 'hourly', instant: 100 },
  { what: 'granted', limit: 'rate', holder: 'b', amount: 1 },
  { what: 'ticked', schedule: 'hourly', instant: 200 },
  { what: 'planned', schedule: 'hourly', instants: [100, 200] },
  look({ a: 'done', b: 'cancelled', c: 'done' }),
]

describe('the checker of histories', () => {
  test('accepts a history in which every guarantee holds', () => {
    expect(checkHistory(history(...GOOD))).toEqual([])
  })

  test('finds an acknowledged job that is gone, and one that has not ended', () => {
    expect(rulesOf(written('a'), acknowledged('a'), look({}))).toEqual(['lost'])
    expect(rulesOf(written('a'), acknowledged('a'), look({ a: 'running' }))).toEqual(['not ended'])
    // No caller got an acknowledgement of this job.
    expect(rulesOf(written('a'), look({}))).toEqual([])
  })

  test('does not report a done job that retention has removed', () => {
    const before = [written('a'), acknowledged('a'), ...claimedAndStarted('a', 1), done('a', 1)]
    expect(rulesOf(keeps(1), ...before, look({}))).toEqual([])
    expect(rulesOf(keeps(2), ...before, look({}))).toEqual(['lost'])
    expect(rulesOf(keeps(0), written('a'), acknowledged('a'), look({}))).toEqual(['lost'])
  })

  test('finds what a restart lost: an acknowledged job, and an accepted finish', () => {
    expect(
      rulesOf(written('a'), acknowledged('a'), { what: 'restarted' }, look({}, false), look({ a: 'done' })),
    ).toEqual(['forgotten'])
    expect(
      rulesOf(
        written('a'),
        ...claimedAndStarted('a', 1),
        done('a', 1),
        { what: 'restarted' },
        look({ a: 'ready' }, false),
        look({ a: 'done' }),
      ),
    ).toEqual(['forgotten'])
  })

  test('accepts a job that is written again after retention removed it', () => {
    const twice = [written('a'), ...claimedAndStarted('a', 1), done('a', 1), written('a')]
    const ends: readonly What[] = [asked('a'), { what: 'withdrawn', job: 'a' }, look({ a: 'cancelled' })]
    expect(rulesOf(keeps(1), ...twice, ...ends)).toEqual([])
    expect(rulesOf(keeps(100), ...twice, ...ends)).toEqual(['forgotten'])
  })

  test('finds two leases at once', () => {
    expect(rulesOf(written('a'), claimed('a', 1), claimed('a', 2, 'two'))).toEqual(['two leases'])
    expect(rulesOf(written('a'), claimed('a', 1), takenBack('a'), claimed('a', 2))).toEqual([])
    expect(rulesOf(written('a'), claimed('a', 1), refused('a', 1), claimed('a', 2))).toEqual(['two leases'])
  })

  test('finds a finish that was accepted after its lease had ended', () => {
    const before = [written('a'), ...claimedAndStarted('a', 1), takenBack('a')]
    expect(rulesOf(...before, done('a', 1))).toEqual(['stale finish'])
    expect(rulesOf(...before, claimed('a', 2), done('a', 1))).toEqual(['stale finish'])
    expect(rulesOf(...before, ...claimedAndStarted('a', 2), done('a', 2), done('a', 2))).toEqual([
      'stale finish',
    ])
  })

  test('finds a token that is not higher than those before', () => {
    const before = [written('a'), claimed('a', 2), takenBack('a')]
    expect(rulesOf(...before, claimed('a', 2))).toEqual(['old token'])
    expect(rulesOf(...before, claimed('a', 1))).toEqual(['old token'])
    expect(rulesOf(...before, claimed('a', 3))).toEqual([])
  })

  test('finds a handler that is called twice under one lease, and a finish without a handler call', () => {
    expect(rulesOf(written('a'), ...claimedAndStarted('a', 1), started('a', 1))).toEqual(['started twice'])
    expect(rulesOf(written('a'), claimed('a', 1), done('a', 1))).toEqual(['done unrun'])
  })

  test('finds a job that is leased too early, from a paused queue, to a quiet instance, or without being written', () => {
    expect(rulesOf(written('a', { dueAt: 50, isReady: false }), claimed('a', 1))).toEqual(['early'])
    expect(rulesOf(written('a', { dueAt: 1, isReady: false }), claimed('a', 1))).toEqual([])
    const later = [written('a', { dueAt: 50, isReady: false })]
    expect(rulesOf(...later, { what: 'hurried', job: 'a' }, claimed('a', 1))).toEqual([])
    expect(rulesOf(...later, { what: 'replaced', job: 'a' }, claimed('a', 1))).toEqual([])
    expect(rulesOf(...later, retried('a'), claimed('a', 1))).toEqual([])
    expect(rulesOf(written('a'), pause(true), claimed('a', 1))).toEqual(['paused'])
    expect(rulesOf(written('a'), pause(true), pause(false), claimed('a', 1))).toEqual([])
    expect(rulesOf(written('a'), claimed('a', 1), pause(true))).toEqual([])
    expect(rulesOf(written('a'), quieted(true), claimed('a', 1))).toEqual(['quiet'])
    expect(rulesOf(written('a'), quieted(true), quieted(false), claimed('a', 1))).toEqual([])
    expect(rulesOf(written('a'), claimed('a', 1), quieted(true))).toEqual([])
    expect(rulesOf(written('a'), claimed('b', 1))).toEqual(['unwritten'])
    // An observer from outside does not see writes of jobs.
    expect(rulesOf(claimed('b', 1))).toEqual([])
  })

  test('finds a job that is leased before the previous one of its order key has ended', () => {
    const sameKey = [
      written('a', { orderKey: 'x', isReady: false }),
      written('b', { orderKey: 'x', isReady: false }),
    ]
    expect(rulesOf(...sameKey, ...claimedAndStarted('a', 1), claimed('b', 2))).toEqual(['order key'])
    expect(rulesOf(...sameKey, ...claimedAndStarted('a', 1), takenBack('a'), claimed('b', 2))).toEqual([
      'order key',
    ])
    expect(rulesOf(...sameKey, ...claimedAndStarted('a', 1), done('a', 1), claimed('b', 2))).toEqual([])
    expect(rulesOf(...sameKey, ...claimedAndStarted('a', 1), takenBack('a'), claimed('a', 2))).toEqual([])
    const other = written('c', { orderKey: 'x', queue: 'other', isReady: false })
    expect(rulesOf(...sameKey, other, ...claimedAndStarted('a', 1), claimed('c', 2))).toEqual([])
  })

  test('finds a job that was reaped before the lease of its instance had expired', () => {
    const before = [written('a'), claimed('a', 1)]
    expect(rulesOf(promised(100), ...before, takenBack('a'))).toEqual(['taken alive'])
    // Also when the entry names another instance.
    expect(rulesOf(promised(100), ...before, takenBack('a', 'two'))).toEqual(['taken alive'])
    expect(rulesOf(promised(1), ...before, takenBack('a'))).toEqual([])
    // The instance had ended its lease before.
    expect(rulesOf(promised(100), ...before, promised(0), takenBack('a'))).toEqual([])
  })

  test('P5 D6 finds a crash that was counted for a live process: after an outage, and at the end', () => {
    const gone: What = { what: 'gone', instance: 'one' }
    const crash = { ...takenBack('a'), isCrash: true } as What
    const before = [promised(3), written('a'), claimed('a', 1)]
    expect(rulesOf(...before, outage(false), outage(true), crash)).toEqual(['crash counted'])
    expect(rulesOf(...before, outage(false), crash)).toEqual(['crash counted'])
    expect(rulesOf(...before, outage(false), outage(true), takenBack('a'))).toEqual([])
    expect(rulesOf(...before, outage(false), gone, outage(true), crash)).toEqual([])
    // Its lease had expired before the outage.
    expect(rulesOf(promised(2), ...before.slice(1), outage(false), outage(true), crash)).toEqual([])
    const lastly = (crashes: number): What =>
      ({ ...look({ a: 'done' }), crashes: new Map([['a', crashes]]) }) as What
    expect(rulesOf(...before, crash, lastly(1))).toEqual(['crash counted'])
    expect(rulesOf(...before, crash, lastly(0))).toEqual([])
    expect(rulesOf(...before, gone, crash, lastly(1))).toEqual([])
    expect(rulesOf(...before, gone, crash, retried('a'), lastly(1))).toEqual(['crash counted'])
  })

  test('finds an attempt that continues after its lease was reaped, unless its process has just resumed', () => {
    const before = [written('a'), claimed('a', 1), takenBack('a')]
    const waits = Array.from({ length: 60 }, (): What => promised(0))
    expect(rulesOf(...before, ...waits, effect('a', 1))).toEqual(['continues'])
    expect(rulesOf(...before, ...waits, effect('a', 1, 10))).toEqual([])
    expect(rulesOf(...before, effect('a', 1))).toEqual([])
    expect(rulesOf(...before, claimed('a', 2), ...waits, effect('a', 2))).toEqual([])
  })

  test('finds an attempt that starts after its lease was reaped, unless its process was paused', () => {
    const before = [written('a'), claimed('a', 1), takenBack('a')]
    expect(rulesOf(...before, started('a', 1))).toEqual(['continues'])
    expect(rulesOf(...before, { ...started('a', 1), heldUpMs: 10 } as What)).toEqual([])
    expect(rulesOf(...before, claimed('a', 2), started('a', 2))).toEqual([])
  })

  test('finds a job that is released after its finish, or leased again when it is done', () => {
    const before = [written('a'), ...claimedAndStarted('a', 1)]
    const released = { ...done('a', 1), state: 'ready', released: true } as What
    expect(rulesOf(...before, released)).toEqual([])
    expect(rulesOf(...before, ended('a', 1), released)).toEqual(['repeated'])
    expect(rulesOf(...before, ended('a', 1), takenBack('a'), claimed('a', 2))).toEqual([])
    expect(rulesOf(...before, done('a', 1), claimed('a', 2))).toEqual(['repeated'])
    expect(rulesOf(keeps(2), ...before, done('a', 1), claimed('a', 2))).toEqual(['repeated'])
    expect(rulesOf(keeps(1), ...before, done('a', 1), claimed('a', 2))).toEqual([])
  })

  test('finds a handler that was called without a lease', () => {
    expect(rulesOf(written('a'), started('a', 1))).toEqual(['unleased start'])
    expect(rulesOf(written('a'), claimed('a', 1), started('a', 2))).toEqual(['unleased start'])
  })

  test('finds an effect after the cancel was confirmed, and none before it or after a retry', () => {
    const before = [written('a'), claimed('a', 1), effect('a', 1), cancelled('a')]
    expect(rulesOf(...before)).toEqual([])
    expect(rulesOf(...before, effect('a', 1))).toEqual(['effect after cancel'])
    // A cancel cannot reach an instance whose lease was taken.
    expect(rulesOf(written('a'), claimed('a', 1), takenBack('a'), cancelled('a'), effect('a', 1))).toEqual([])
    const again = [takenBack('a'), retried('a'), claimed('a', 2), effect('a', 2)]
    expect(rulesOf(...before, ...again)).toEqual([])
    // The caller got the confirmation after the retry.
    expect(rulesOf(written('a'), asked('a'), retried('a'), cancelled('a'), claimed('a', 1))).toEqual([])
  })

  test('finds a job that is leased after its cancel was confirmed, and one cancelled without a request', () => {
    expect(rulesOf(written('a'), cancelled('a'), claimed('a', 1))).toEqual(['run after cancel'])
    expect(rulesOf(written('a'), look({ a: 'cancelled' }))).toEqual(['cancelled unasked'])
    expect(rulesOf(written('a'), asked('a'), look({ a: 'cancelled' }))).toEqual([])
  })

  test('finds an attempt that continues after it was released', () => {
    const released = { ...done('a', 1), state: 'ready', released: true } as What
    const waits = Array.from({ length: 60 }, (): What => promised(0))
    const before = [written('a'), ...claimedAndStarted('a', 1), released, claimed('a', 2)]
    expect(rulesOf(...before, ...waits, effect('a', 1))).toEqual(['continues'])
    expect(rulesOf(...before, ...waits, effect('a', 2))).toEqual([])
  })

  test('finds a job that was leased before an older or more urgent one of the same queue and kind', () => {
    expect(rulesOf(written('a'), written('b'), claimed('b', 1), claimed('a', 2))).toEqual(['order'])
    expect(rulesOf(written('a'), { what: 'withdrawn', job: 'a' }, written('b'), claimed('b', 1))).toEqual([])
    expect(rulesOf(written('a'), written('b', { priority: 1 }), claimed('b', 1))).toEqual(['order'])
    expect(rulesOf(written('a'), { what: 'replaced', job: 'a' }, written('b'), claimed('b', 1))).toEqual([])
    for (const other of [{ queue: 'other' }, { kind: 'other' }, { priority: -1 }])
      expect(rulesOf(written('a'), written('b', other), claimed('b', 1), claimed('a', 2))).toEqual([])
    expect(rulesOf(written('a', { isReady: false }), written('b'), claimed('b', 1), claimed('a', 2))).toEqual(
      [],
    )
  })

  test('finds two jobs with one dedupe key, also while the key is held after the end of the first', () => {
    expect(rulesOf(keyed('a'), keyed('b'))).toEqual(['key'])
    expect(rulesOf(keyed('a'), ...claimedAndStarted('a', 1), done('a', 1), keyed('b'))).toEqual([])
    expect(rulesOf(keyed('a', 10), ...claimedAndStarted('a', 1), done('a', 1), keyed('b'))).toEqual(['key'])
    expect(rulesOf(keyed('a'), { what: 'withdrawn', job: 'a' }, keyed('b'))).toEqual([])
    const withdrawn = { what: 'withdrawn', job: 'a' } as const
    expect(rulesOf(keyed('a', 10), withdrawn, keyed('b'))).toEqual([])
    expect(rulesOf(keyed('a', 10, 'ended'), withdrawn, keyed('b'))).toEqual(['key'])
    expect(rulesOf(keyed('a'), keyed('a'))).toEqual([])
    expect(rulesOf(keyed('a'), { what: 'replaced', job: 'a' }, keyed('b'))).toEqual(['key'])
    const ended: readonly What[] = [keyed('a'), { what: 'withdrawn', job: 'a' }]
    expect(rulesOf(...ended, retried('a'), keyed('b'))).toEqual(['key'])
    expect(rulesOf(...ended, keyed('b'), retried('a'))).toEqual(['key'])
  })

  test('finds more held permits than a limit has, and more starts than its rate allows', () => {
    const seats: What = { what: 'limit set', limit: 'seats', allows: { most: 2 } }
    expect(rulesOf(seats, grant('seats', 'a'), grant('seats', 'b'), grant('seats', 'c'))).toEqual(['limit'])
    expect(rulesOf(seats, grant('seats', 'a', 3))).toEqual(['limit'])
    const rate: What = { what: 'limit set', limit: 'rate', allows: { amount: 1, perMs: 10, burst: 2 } }
    expect(rulesOf(rate, grant('rate', 'a'), grant('rate', 'b'))).toEqual([])
    expect(rulesOf(rate, grant('rate', 'a'), grant('rate', 'b'), grant('rate', 'c'))).toEqual(['limit'])
    // A job that is due later does not block the order.
    const ahead = checkHistory([
      { ...rate, at: 0 },
      { ...grant('rate', 'a'), at: 1_000 },
      ...['b', 'c', 'd'].map((holder) => ({ ...grant('rate', holder), at: 1 })),
    ])
    expect(ahead.map(({ rule }) => rule)).toEqual(['limit'])
  })

  test('finds a tick that enqueued two jobs, and one that enqueued none', () => {
    const planned: What = { what: 'planned', schedule: 'hourly', instants: [100, 200] }
    expect(rulesOf(ticked(100), ticked(200), ticked(100), planned)).toEqual(['tick twice'])
    expect(rulesOf(ticked(200), planned)).toEqual(['tick missing'])
  })

  test('reports the position in the history, and the job', () => {
    const [only] = checkHistory(history(written('a'), claimed('a', 1), claimed('a', 2)))
    expect(only).toEqual({
      rule: 'two leases',
      message: 'a was leased under 2 while 1 was its lease',
      entry: 2,
    })
  })
})
