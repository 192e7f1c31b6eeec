/** Tests the rules of the history checker for durable steps: P17 and P18. */
import { describe, expect, test } from 'vitest'
import { checkHistory } from '../../proof/history/check.ts'
import type { Entry } from '../../proof/history/entry.ts'

type What = Entry extends infer E ? (E extends { readonly at: number } ? Omit<E, 'at'> : never) : never

/** The rules that are broken; the entries are one millisecond apart. */
const rulesOf = (...entries: readonly What[]): string[] =>
  checkHistory(entries.map((entry, n): Entry => ({ ...entry, at: n }))).map(({ rule }) => rule)

const written = (): What => ({
  what: 'written',
  job: 'a',
  queue: 'default',
  kind: 'work',
  priority: 0,
  isReady: true,
})
const claimed = (token: number): What => ({ what: 'claimed', job: 'a', token, instance: 'one' })
const started = (token: number): What => ({
  what: 'started',
  job: 'a',
  token,
  instance: 'one',
  heldUpMs: 0,
})
const done = (token: number): What => ({ what: 'finished', job: 'a', token, accepted: true, state: 'done' })
const keeps = (doneMs: number): What => ({ what: 'keeps', queue: 'default', doneMs })
const takenBack = (): What => ({ what: 'taken back', job: 'a', state: 'ready', instance: 'one' })
const parked = (token: number): What => ({
  what: 'finished',
  job: 'a',
  token,
  accepted: true,
  state: 'scheduled',
  parked: true,
})
/** Entries that only let time pass. */
const waits = Array.from({ length: 60 }, (): What => ({ what: 'alive', instance: 'one', until: 0 }))
const stepRan = (step: string, token: number): What => ({ what: 'step ran', job: 'a', token, step })
const recorded = (step: string, token: number, value: string | null, events?: readonly string[]): What => ({
  what: 'step recorded',
  job: 'a',
  token,
  step,
  value,
  ...(events !== undefined && { events }),
})
const returned = (step: string, token: number, value: string | null): What => ({
  what: 'step returned',
  job: 'a',
  token,
  step,
  value,
})
const sleeps = (step: string, token: number, dueAt: number): What => ({
  what: 'step waits',
  job: 'a',
  token,
  step,
  events: [],
  dueAt,
})
const slept = (step: string, token: number): What =>
  ({ ...returned(step, token, null), isSleep: true }) as What
const stored = (name: string, payload: string): What => ({ what: 'event stored', job: 'a', name, payload })
const sent = (payload: string): What => ({ what: 'event acknowledged', job: 'a', payload })
const received = (step: string, token: number, payload: string | null): What =>
  recorded(step, token, payload === null ? null : `{"event":"e","payload":${payload}}`, ['e'])
const inVersion = (version: number, token: number): What => ({ ...started(token), version }) as What
const registers = (kinds: readonly string[], followed: readonly string[]): What => ({
  what: 'registered',
  instance: 'one',
  kinds,
  followed,
})
const look = (...followUps: readonly string[]): What => ({
  what: 'look',
  jobs: new Map([['a', 'cancelled']]),
  isLast: true,
  followUps: new Map(followUps.map((job, n) => [`follow-up ${n}`, job])),
})

describe('the checker of histories with steps', () => {
  test('P17 finds a step that runs after it was recorded, unless its attempt is older', () => {
    const before = [written(), claimed(1), stepRan('s', 1), takenBack(), claimed(2)]
    const twice = [...before, stepRan('s', 2), recorded('s', 2, '1')]
    expect(rulesOf(...twice, stepRan('s', 1), returned('s', 2, '1'))).toEqual([])
    expect(rulesOf(...twice, stepRan('s', 2))).toEqual(['step repeated'])
    expect(rulesOf(...twice, takenBack(), claimed(3), stepRan('s', 3))).toEqual(['step repeated'])
    // Retention deleted the job, and a late call wrote it again.
    const again = [written(), claimed(4), stepRan('s', 4)]
    expect(rulesOf(keeps(1), ...twice, started(2), done(2), ...again)).toEqual([])
    expect(rulesOf(keeps(9), ...twice, takenBack(), ...again)).toEqual(['step repeated'])
  })

  test('P17 finds a step that is recorded without its lease', () => {
    const before = [written(), claimed(1), takenBack()]
    expect(rulesOf(...before, recorded('s', 1, '1'))).toEqual(['stale step'])
    expect(rulesOf(...before, claimed(2), sleeps('s', 1, 5))).toEqual(['stale step'])
    expect(rulesOf(...before, claimed(2), recorded('s', 2, '1'))).toEqual([])
    const over = [claimed(2), parked(2), recorded('s', 2, '1')]
    expect(rulesOf(...before, ...over)).toEqual(['stale step'])
  })

  test('P17 finds a handler that gets another result than the recorded one, or gets it before it is recorded', () => {
    const before = [written(), claimed(1)]
    expect(rulesOf(...before, returned('s', 1, '1'))).toEqual(['step result'])
    expect(rulesOf(...before, recorded('s', 1, '1'), returned('s', 1, '2'))).toEqual(['step result'])
    // The store ignores another result of a recorded step.
    expect(rulesOf(...before, recorded('s', 1, '1'), recorded('s', 1, '2'), returned('s', 1, '1'))).toEqual(
      [],
    )
  })

  test('P18 finds an event that was lost, and a wait that timed out although its event was there', () => {
    const before = [written(), claimed(1)]
    expect(rulesOf(...before, sent('7'))).toEqual(['event lost'])
    expect(rulesOf(...before, stored('e', '7'), sent('7'), received('s', 1, '7'))).toEqual([])
    expect(rulesOf(...before, stored('e', '7'), received('s', 1, null))).toEqual(['event lost'])
    expect(rulesOf(...before, stored('other', '7'), received('s', 1, null))).toEqual([])
    // The second reply is for a repeated call.
    expect(rulesOf(...before, received('s', 1, null), stored('e', '7'), received('s', 1, null))).toEqual([])
  })

  test('P18 finds an event that two waits received, or that was never stored', () => {
    const before = [written(), claimed(1), stored('e', '7'), stored('e', '7'), received('s', 1, '7')]
    expect(rulesOf(...before, received('s', 1, '7'))).toEqual([])
    expect(rulesOf(...before, received('t', 1, '7'))).toEqual(['event twice'])
    expect(rulesOf(...before, received('t', 1, '8'))).toEqual(['event twice'])
  })

  test('P18 finds a sleep that ended early, and a parked attempt that continues', () => {
    const before = [written(), claimed(1), sleeps('s', 1, 50)]
    expect(rulesOf(...before, slept('s', 1))).toEqual(['short sleep'])
    expect(rulesOf(...before, ...waits, slept('s', 1))).toEqual([])
    const again = [claimed(2), stepRan('t', 2)]
    expect(rulesOf(...before, parked(1), ...again)).toEqual([])
    expect(rulesOf(...before, parked(1), stepRan('t', 1))).toEqual(['parked'])
  })

  test('P14 P17 finds a job that starts in an earlier version than that of its first step', () => {
    const first = [written(), claimed(1), inVersion(2, 1), recorded('s', 1, '1'), parked(1)]
    expect(rulesOf(...first, claimed(2), inVersion(2, 2))).toEqual([])
    expect(rulesOf(...first, claimed(2), inVersion(3, 2))).toEqual([])
    expect(rulesOf(...first, claimed(2), inVersion(1, 2))).toEqual(['earlier version'])
    expect(rulesOf(...first, claimed(2), inVersion(0, 2))).toEqual(['earlier version'])
    // A wait counts as a step.
    const waiting = [written(), claimed(1), inVersion(2, 1), sleeps('s', 1, 9), parked(1)]
    expect(rulesOf(...waiting, claimed(2), inVersion(1, 2))).toEqual(['earlier version'])
    // Without a step, any version may run it. The first step of a job without a version decides too.
    const none = [written(), claimed(1), inVersion(2, 1), takenBack(), claimed(2), inVersion(0, 2)]
    expect(rulesOf(...none)).toEqual([])
    const noVersion = [...none, recorded('s', 2, '1'), parked(2), claimed(3), inVersion(2, 3)]
    expect(rulesOf(...noVersion, recorded('t', 3, '1'), parked(3), claimed(4), inVersion(1, 4))).toEqual([])
    // Retention deleted the job, and a late call wrote it again.
    const over = [...first.slice(0, 4), done(1), written(), claimed(2), inVersion(1, 2)]
    expect(rulesOf(keeps(1), ...over)).toEqual([])
  })

  test('P3 finds a cancel without its follow-up, and a follow-up without its cancel', () => {
    const cancelled: What = { what: 'ended by cancel', job: 'a' }
    const asked: What = { what: 'cancel asked', job: 'a' }
    const follows = registers(['work', 'work@1'], ['work'])
    const followsNot = registers(['work', 'work@1'], [])
    const before = [asked, written()]
    expect(rulesOf(...before, follows, cancelled, look('a'))).toEqual([])
    expect(rulesOf(...before, follows, cancelled, cancelled, look('a', 'a'))).toEqual([])
    expect(rulesOf(...before, follows, cancelled, look())).toEqual(['follow-up lost'])
    expect(rulesOf(...before, follows, cancelled, cancelled, look('a'))).toEqual(['follow-up lost'])
    expect(rulesOf(...before, follows, cancelled, look('a', 'a'))).toEqual(['follow-up twice'])
    expect(rulesOf(...before, follows, look('a'))).toEqual(['follow-up twice'])
    // The kind has no `onCancelled` when the job is cancelled.
    expect(rulesOf(...before, cancelled, follows, look())).toEqual([])
    expect(rulesOf(...before, follows, followsNot, cancelled, look())).toEqual([])
    expect(rulesOf(...before, follows, followsNot, cancelled, look('a'))).toEqual(['follow-up twice'])
    // An earlier release, which does not know version 2, says nothing about jobs of that version.
    const inTwo = [{ ...started(1), version: 2 } as What, recorded('s', 1, '1'), parked(1)]
    const later = [registers(['work', 'work@1', 'work@2'], ['work']), ...before, claimed(1), ...inTwo]
    expect(rulesOf(...later, followsNot, cancelled, look('a'))).toEqual([])
    expect(rulesOf(...later, followsNot, cancelled, look())).toEqual(['follow-up lost'])
  })
})
