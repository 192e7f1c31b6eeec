// When a busy process makes room for a quarantined job: phases that double, half of the time for other jobs.
import { beforeEach, describe, expect, test } from 'vitest'
import { type Quarantine, quarantine } from '../../src/work/quarantine.ts'

let now = 0
let state: Quarantine

beforeEach(() => {
  now = 0
  state = quarantine(() => now)
})

/** What may be claimed, in steps of 100 ms, as a list of phases with their durations. */
function phases(totalMs: number): [string, number][] {
  const phaseList: [string, number][] = []
  for (; now < totalMs; now += 100) {
    const { claim } = state.next(false)
    const last = phaseList.at(-1)
    if (last?.[0] === claim) last[1] += 100
    else phaseList.push([claim, 100])
  }
  return phaseList
}

describe('a process that makes room for a quarantined job', () => {
  test('claims other jobs while no quarantined job is ready', () => {
    expect(state.next(true)).toEqual({ claim: 'others' })
    expect(state.next(false)).toEqual({ claim: 'others' })
    state.seen(false)
    expect(state.next(true)).toEqual({ claim: 'others' })
  })

  test('claims the quarantined job at once if nothing runs', () => {
    state.seen(true)
    expect(state.next(true)).toMatchObject({ claim: 'quarantined' })
    now = 500
    expect(state.next(false)).toMatchObject({ claim: 'nothing' })
    expect(state.next(true)).toMatchObject({ claim: 'quarantined' })
  })

  test('pauses claims, works for as long, and doubles both each time', () => {
    state.seen(true)
    expect(phases(30_000)).toEqual([
      ['nothing', 1_000],
      ['others', 1_000],
      ['nothing', 2_000],
      ['others', 2_000],
      ['nothing', 4_000],
      ['others', 4_000],
      ['nothing', 8_000],
      ['others', 8_000],
    ])
  })

  test('spends half of the time on other jobs, however long it takes', () => {
    state.seen(true)
    const spent = { nothing: 0, others: 0, suspect: 0 }
    for (const [claim, ms] of phases(2 * 1_000 * (2 ** 10 - 1))) spent[claim as 'nothing' | 'others'] += ms
    expect(spent.nothing).toBe(spent.others)
    expect(spent.suspect).toBe(0)
  })

  test('returns the time until the end of the phase', () => {
    state.seen(true)
    expect(state.next(false)).toEqual({ claim: 'nothing', inMs: 1_000 })
    now = 400
    expect(state.next(false)).toEqual({ claim: 'nothing', inMs: 600 })
    now = 1_000
    expect(state.next(false)).toEqual({ claim: 'others', inMs: 1_000 })
  })

  test('does not restart its phase when the job is seen again', () => {
    state.seen(true)
    state.next(false)
    now = 999
    state.seen(true)
    expect(state.next(false)).toEqual({ claim: 'nothing', inMs: 1 })
  })

  test.each(['was claimed', 'is gone'])(
    'starts with the shortest phase again once the quarantined job %s',
    (how) => {
      state.seen(true)
      phases(7_000)
      if (how === 'was claimed') state.settled()
      else state.seen(false)
      expect(state.next(false)).toEqual({ claim: 'others' })
      state.seen(true)
      expect(state.next(false)).toEqual({ claim: 'nothing', inMs: 1_000 })
    },
  )
})
