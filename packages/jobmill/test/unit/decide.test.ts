/** The policy as a table: every way an attempt can end, in every circumstance that matters. No database. */
import { describe, expect, it } from 'vitest'
import { type Circumstances, decide, type Decision, type Ended } from '../../src/job/attempt/decide.ts'
import { Interruption } from '../../src/job/attempt/interruption.ts'
import { Dead, Snooze, Throttled } from '../../src/job/attempt/thrown.ts'

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
    'a returned job is done, and deleted if retention by age is 0',
    { how: 'returned', result: '1' },
    { queue: { ...QUEUE, retainDoneMs: 0 } },
    { outcome: 'returned', transition: { to: 'done', result: '1', forget: true } },
  ],
  [
    'a returned job is done, and deleted if retention by number is 0',
    { how: 'returned', result: '1' },
    { queue: { ...QUEUE, retainDoneMs: null, keepDone: 0 } },
    { outcome: 'returned', transition: { to: 'done', result: '1', forget: true } },
  ],
  [
    'a returned job is done',
    { how: 'returned', result: '{"a":1}' },
    {},
    { outcome: 'returned', transition: { to: 'done', result: '{"a":1}' } },
  ],
  [
    'a result that cannot be stored leaves the job done, with the reason as its error',
    { how: 'returned', result: null, notKept: 'too big' },
    { attempt: 5 },
    { outcome: 'returned', transition: { to: 'done', result: null }, error: 'too big' },
  ],
  ['the first retry waits the base delay, with full jitter', threw, {}, later(5_000)],
  ['full jitter can shorten the wait to 0', threw, { random: 0 }, later(0)],
  ['full jitter can leave the wait almost whole', threw, { random: 0.999_999 }, later(10_000)],
  ['each further retry waits twice as long', threw, { attempt: 3, random: 0.5 }, later(20_000)],
  ['a retry waits at most the maximum of the queue', threw, { attempt: 40, maxAttempts: 50 }, later(900_000)],
  ['a job that fails its last attempt is dead', threw, { attempt: 5 }, dead()],
  ['a job that fails beyond its last attempt is dead', threw, { attempt: 7 }, dead()],
  ['a job whose error retryIf refuses is dead at once', threw, { mayRetry: false }, dead()],
  ['with the backoff off, a retry is due at once', threw, { queue: OFF }, later(0)],
  [
    'a backoff that the operator switched off overrides that of the kind',
    threw,
    { queue: OFF, backoff: { fixedMs: 99, jitter: 'none' } },
    later(0),
  ],
  [
    'with the backoff off, a job that fails its last attempt is dead',
    threw,
    { queue: OFF, attempt: 5 },
    dead(),
  ],
  ['a kind can set a fixed backoff', threw, { backoff: { fixedMs: 99, jitter: 'none' } }, later(99)],
  [
    'a kind can set a fixed backoff with jitter',
    threw,
    { backoff: { fixedMs: 100, jitter: 'full' }, attempt: 4 },
    later(50),
  ],
  [
    'a kind can set its own exponential backoff',
    threw,
    { backoff: { baseMs: 100, maxMs: 350, jitter: 'none' }, attempt: 2 },
    later(200),
  ],
  [
    'a kind can set the maximum of its exponential backoff',
    threw,
    { backoff: { baseMs: 100, maxMs: 350, jitter: 'none' }, attempt: 3 },
    later(350),
  ],
  [
    'a base above the maximum of the queue is the wait',
    threw,
    { backoff: { baseMs: 3_600_000, maxMs: undefined, jitter: 'none' } },
    later(3_600_000),
  ],
  [
    'a backoff function receives the attempt and the error',
    threw,
    { attempt: 2, backoff: (failure) => (failure.error === error ? failure.attempt * 7 : 0) },
    later(14),
  ],
  ['a backoff function can return a duration as text', threw, { backoff: () => '2s' }, later(2_000)],
  [
    'a backoff function that throws falls back on the backoff of the queue',
    threw,
    {
      backoff: () => {
        throw new Error('broken')
      },
    },
    later(5_000),
  ],
  [
    'a backoff function that returns no duration falls back on the backoff of the queue',
    threw,
    { backoff: () => Number.NaN },
    later(5_000),
  ],
  [
    'Snooze spends no attempt',
    { how: 'snoozed', thrown: new Snooze('90s') },
    { attempt: 5 },
    { outcome: 'snoozed', transition: { to: 'scheduled', delayMs: 90_000, refund: true } },
  ],
  [
    'Throttled with a time cools the queue down for exactly that long, and spends no attempt',
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
    'Throttled with a time cools the queue down with the backoff off too',
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
    'Throttled with a time of 0 puts the job behind the others',
    { how: 'throttled', thrown: new Throttled({ retryAfter: 0 }) },
    {},
    {
      outcome: 'throttled',
      transition: { to: 'scheduled', delayMs: 0, refund: true },
      error: 'Throttled: throttled for 0 ms',
    },
  ],
  [
    'Throttled without a time follows the backoff of the queue',
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
    'Throttled without a time cools the queue down for a fixed time with the backoff off',
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
    'an attempt whose transaction began too early is not spent',
    { how: 'stale', error },
    { attempt: 5 },
    { outcome: 'failed', transition: { to: 'scheduled', delayMs: 0, refund: true }, error: TEXT },
  ],
  [
    'D5 an invalid payload spends no attempt while the job is young, whatever retryIf says',
    { how: 'unfit', error },
    { attempt: 5, mayRetry: false, ageMs: 15 * 60_000 - 1 },
    { outcome: 'failed', transition: { to: 'scheduled', delayMs: 80_000, refund: true }, error: TEXT },
  ],
  [
    'D5 a job with an invalid payload is retried after a pause, even with the backoff off',
    { how: 'unfit', error },
    { queue: OFF },
    { outcome: 'failed', transition: { to: 'scheduled', delayMs: 1_000, refund: true }, error: TEXT },
  ],
  [
    'D5 an invalid payload of an older job spends an attempt',
    { how: 'unfit', error },
    { mayRetry: false, ageMs: 15 * 60_000 },
    later(5_000),
  ],
  [
    'D5 an older job with an invalid payload is dead after its last attempt',
    { how: 'unfit', error },
    { attempt: 5, ageMs: 15 * 60_000 },
    dead(),
  ],
  [
    'a timeout is retried like a failure, with the outcome timed-out',
    by('timeout'),
    {},
    later(5_000, 'timed-out'),
  ],
  ['a job that times out in its last attempt is dead', by('timeout'), { attempt: 5 }, dead('timed-out')],
  ['retryIf decides about timeouts too', by('timeout'), { mayRetry: false }, dead('timed-out')],
  [
    'a cancellation ends the job with its reason, whatever the handler threw',
    by('cancelled', 'no longer needed'),
    { attempt: 5 },
    { outcome: 'cancelled', transition: { to: 'cancelled' }, error: 'no longer needed' },
  ],
  [
    'a shutdown returns the job to ready and spends no attempt, even the last one',
    by('shutdown'),
    { attempt: 5 },
    { outcome: 'interrupted', transition: { to: 'ready' }, error: TEXT },
  ],
  [
    'a lease lost because the handler blocked the event loop spends an attempt',
    { how: 'interrupted', by: new Interruption('lease-lost', 'blocked', { blocked: true }), error },
    {},
    {
      outcome: 'failed',
      transition: { to: 'scheduled', delayMs: 5_000, refund: false },
      error: 'Interruption: blocked',
    },
  ],
  [
    'another lost lease returns the job to ready and spends no attempt',
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
