/** The policy as a table: every way an attempt can end, in every circumstance that matters. No database. */
import { describe, expect, it } from 'vitest'
import { type Circumstances, decide, type Decision, type Ended } from '../../src/job/decide.ts'
import { Interruption } from '../../src/job/interruption.ts'
import { Dead, Snooze, Throttled } from '../../src/job/thrown.ts'

const QUEUE = {
  backoffEnabled: true,
  backoffBaseMs: 10_000,
  backoffMaxMs: 1_800_000,
  retainDoneMs: 1_000,
  keepDone: null,
}
const OFF = { ...QUEUE, backoffEnabled: false }
const PLAIN: Circumstances = {
  ageMs: 0,
  attempt: 1,
  maxAttempts: 5,
  backoff: undefined,
  mayRetry: true,
  queue: QUEUE,
  random: 0.5,
}
const error = new Error('no', { cause: new Error('connect ECONNREFUSED') })
const TEXT = 'Error: no\n  caused by: Error: connect ECONNREFUSED'
const threw: Ended = { how: 'failed', error }
const by = (why: Interruption['why'], message: string = why): Ended => ({
  how: 'interrupted',
  by: new Interruption(why, message),
  error,
})
const later = (delayMs: number, outcome: Decision['outcome'] = 'failed'): Decision => ({
  outcome,
  transition: { to: 'scheduled', delayMs, refund: false },
  error: TEXT,
})
const dead = (outcome: Decision['outcome'] = 'failed'): Decision => ({
  outcome,
  transition: { to: 'dead' },
  error: TEXT,
})

const TABLE: [string, Ended, Partial<Circumstances>, Decision][] = [
  [
    'returned is done, and forgotten where nothing is kept by age',
    { how: 'returned', result: '1' },
    { queue: { ...QUEUE, retainDoneMs: 0 } },
    { outcome: 'returned', transition: { to: 'done', result: '1', forget: true } },
  ],
  [
    'returned is done, and forgotten where nothing is kept by number',
    { how: 'returned', result: '1' },
    { queue: { ...QUEUE, retainDoneMs: null, keepDone: 0 } },
    { outcome: 'returned', transition: { to: 'done', result: '1', forget: true } },
  ],
  [
    'returned is done',
    { how: 'returned', result: '{"a":1}' },
    {},
    { outcome: 'returned', transition: { to: 'done', result: '{"a":1}' } },
  ],
  [
    'a result that cannot be kept leaves the job done, with the reason',
    { how: 'returned', result: null, notKept: 'too big' },
    { attempt: 5 },
    { outcome: 'returned', transition: { to: 'done', result: null }, error: 'too big' },
  ],
  ['the first retry waits one base, with full jitter', threw, {}, later(5_000)],
  ['full jitter reaches from nothing …', threw, { random: 0 }, later(0)],
  ['… to the whole wait', threw, { random: 0.999_999 }, later(10_000)],
  ['each further retry waits twice as long', threw, { attempt: 3, random: 0.5 }, later(20_000)],
  ['up to the longest wait', threw, { attempt: 40, maxAttempts: 50 }, later(900_000)],
  ['the last attempt is dead', threw, { attempt: 5 }, dead()],
  ['so is one beyond the last', threw, { attempt: 7 }, dead()],
  ['an error that retryIf refuses is dead at once', threw, { mayRetry: false }, dead()],
  ['a switched-off backoff is due at once', threw, { queue: OFF }, later(0)],
  [
    'a switched-off backoff is the operator’s, whatever the kind says',
    threw,
    { queue: OFF, backoff: { fixedMs: 99, jitter: 'none' } },
    later(0),
  ],
  ['and is bounded by the attempts', threw, { queue: OFF, attempt: 5 }, dead()],
  ['a kind may wait a fixed time', threw, { backoff: { fixedMs: 99, jitter: 'none' } }, later(99)],
  ['a fixed time with jitter', threw, { backoff: { fixedMs: 100, jitter: 'full' }, attempt: 4 }, later(50)],
  [
    'a curve of its own',
    threw,
    { backoff: { baseMs: 100, maxMs: 350, jitter: 'none' }, attempt: 2 },
    later(200),
  ],
  [
    'up to its own longest',
    threw,
    { backoff: { baseMs: 100, maxMs: 350, jitter: 'none' }, attempt: 3 },
    later(350),
  ],
  [
    'a base of its own on the queue’s longest',
    threw,
    { backoff: { baseMs: 3_600_000, maxMs: undefined, jitter: 'none' } },
    later(3_600_000),
  ],
  [
    'a function hears attempt and error',
    threw,
    { attempt: 2, backoff: (failure) => (failure.error === error ? failure.attempt * 7 : 0) },
    later(14),
  ],
  ['a function may answer in text', threw, { backoff: () => '2s' }, later(2_000)],
  [
    'a function that throws falls back on the queue’s curve',
    threw,
    {
      backoff: () => {
        throw new Error('broken')
      },
    },
    later(5_000),
  ],
  ['as does one that names no duration', threw, { backoff: () => Number.NaN }, later(5_000)],
  [
    'a snooze spends nothing',
    { how: 'snoozed', thrown: new Snooze('90s') },
    { attempt: 5 },
    { outcome: 'snoozed', transition: { to: 'scheduled', delayMs: 90_000, refund: true } },
  ],
  [
    'a throttle with a time cools the queue down for exactly that long, and spends nothing',
    { how: 'throttled', thrown: new Throttled({ retryAfter: '7s' }) },
    { attempt: 5 },
    {
      outcome: 'throttled',
      transition: { to: 'ready' },
      cool: { forMs: 7_000 },
      error: 'Throttled: throttled for 7000 ms',
    },
  ],
  [
    'also with the backoff off',
    { how: 'throttled', thrown: new Throttled({ retryAfter: '7s' }) },
    { queue: OFF },
    {
      outcome: 'throttled',
      transition: { to: 'ready' },
      cool: { forMs: 7_000 },
      error: 'Throttled: throttled for 7000 ms',
    },
  ],
  [
    'a throttle of no time goes behind the others',
    { how: 'throttled', thrown: new Throttled({ retryAfter: 0 }) },
    {},
    {
      outcome: 'throttled',
      transition: { to: 'scheduled', delayMs: 0, refund: true },
      error: 'Throttled: throttled for 0 ms',
    },
  ],
  [
    'a throttle without a time follows the queue’s curve',
    { how: 'throttled', thrown: new Throttled() },
    {},
    {
      outcome: 'throttled',
      transition: { to: 'ready' },
      cool: { baseMs: 10_000, maxMs: 1_800_000, quietMs: 120_000 },
      error: 'Throttled: throttled',
    },
  ],
  [
    'and is flat with the backoff off',
    { how: 'throttled', thrown: new Throttled() },
    { queue: OFF },
    {
      outcome: 'throttled',
      transition: { to: 'ready' },
      cool: { forMs: 60_000 },
      error: 'Throttled: throttled',
    },
  ],
  [
    'Dead is dead at once, with its cause',
    { how: 'failed-permanently', thrown: new Dead('no such user', { cause: new Error('404') }) },
    {},
    {
      outcome: 'failed-permanently',
      transition: { to: 'dead' },
      error: 'Dead: no such user\n  caused by: Error: 404',
    },
  ],
  [
    'D5 a payload that does not fit spends nothing while the job is young, whatever retryIf says',
    { how: 'unfit', error },
    { attempt: 5, mayRetry: false, ageMs: 15 * 60_000 - 1 },
    { outcome: 'failed', transition: { to: 'scheduled', delayMs: 80_000, refund: true }, error: TEXT },
  ],
  [
    'D5 and comes back after a pause, also with the backoff off',
    { how: 'unfit', error },
    { queue: OFF },
    { outcome: 'failed', transition: { to: 'scheduled', delayMs: 1_000, refund: true }, error: TEXT },
  ],
  [
    'D5 one of an older job spends an attempt',
    { how: 'unfit', error },
    { mayRetry: false, ageMs: 15 * 60_000 },
    later(5_000),
  ],
  [
    'D5 and with the last one it is dead',
    { how: 'unfit', error },
    { attempt: 5, ageMs: 15 * 60_000 },
    dead(),
  ],
  ['a timeout is a failure of its own name', by('timeout'), {}, later(5_000, 'timed-out')],
  ['and the last one is dead', by('timeout'), { attempt: 5 }, dead('timed-out')],
  ['and retryIf is asked', by('timeout'), { mayRetry: false }, dead('timed-out')],
  [
    'a cancel ends the job with its reason, whatever was thrown',
    by('cancelled', 'no longer needed'),
    { attempt: 5 },
    { outcome: 'cancelled', transition: { to: 'cancelled' }, error: 'no longer needed' },
  ],
  [
    'a shutdown gives the job back to its place, refunded, also at the last attempt',
    by('shutdown'),
    { attempt: 5 },
    { outcome: 'interrupted', transition: { to: 'ready' }, error: TEXT },
  ],
  [
    'a lease lost because the event loop was blocked is paid for: else it would block for ever',
    { how: 'interrupted', by: new Interruption('lease-lost', 'blocked', { blocked: true }), error },
    {},
    {
      outcome: 'failed',
      transition: { to: 'scheduled', delayMs: 5_000, refund: false },
      error: 'Interruption: blocked',
    },
  ],
  [
    'a lost lease likewise: if it was not lost after all, nothing is spent',
    by('lease-lost'),
    { attempt: 5, mayRetry: false },
    { outcome: 'interrupted', transition: { to: 'ready' }, error: TEXT },
  ],
]

describe('decide', () => {
  it.each(TABLE)('%s', (_name, ended, circumstances, decision) => {
    expect(decide(ended, { ...PLAIN, ...circumstances })).toEqual(decision)
  })
})
