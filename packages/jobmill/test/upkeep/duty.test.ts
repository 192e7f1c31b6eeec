// The supervisor of a duty: runs at once, then once per period; never concurrently; again after an error;
// ended by stop.
import { describe, expect, onTestFinished, test } from 'vitest'
import { testPlatform } from '../../src/testing/index.ts'
import type { Emit } from '../../src/job/events.ts'
import { type DutyOptions, duty as createDuty } from '../../src/upkeep/duty.ts'

interface EmittedEvent {
  readonly type: string
  readonly error?: unknown
}

function bench(more: Partial<DutyOptions> = {}) {
  const platform = testPlatform()
  const passes: { readonly at: number; readonly signal: AbortSignal }[] = []
  const events: EmittedEvent[] = []
  const emit: Emit = (type, event) => void events.push({ ...event, type })
  const troubles = (): string[] =>
    events.map(({ type }) => type).filter((type) => type === 'duty-failing' || type === 'duty-back')
  const state = {
    atOnce: 0,
    mostAtOnce: 0,
    work: async (_signal: AbortSignal): Promise<Record<string, number> | void> => {},
  }
  const duty = createDuty({
    name: 'sweep',
    everyMs: 10_000,
    deadlineMs: 3_000,
    async pass(signal) {
      passes.push({ at: platform.monotonic(), signal })
      state.atOnce += 1
      state.mostAtOnce = Math.max(state.mostAtOnce, state.atOnce)
      try {
        return await state.work(signal)
      } finally {
        state.atOnce -= 1
      }
    },
    forAll: false,
    platform,
    emit,
    ...more,
  })
  onTestFinished(() => duty.stop())
  const apart = (): number[] => passes.slice(1).map(({ at }, n) => at - (passes[n]?.at ?? 0))
  return { platform, passes, events, troubles, state, duty, apart }
}

/** Ends when it is aborted, as a pass should. */
const untilTold = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve()))

describe('a duty', () => {
  test('runs a pass at once, and then one per period with jitter', async () => {
    const { platform, passes, duty, apart, troubles } = bench()
    await duty.start()
    await platform.settled()
    expect(passes.map(({ at }) => at)).toEqual([0])
    await platform.advance('10m')
    for (const ms of apart()) {
      expect(ms).toBeGreaterThanOrEqual(9_000)
      expect(ms).toBeLessThanOrEqual(11_000)
    }
    expect(new Set(apart()).size).toBeGreaterThan(10)
    expect(troubles()).toEqual([])
  })

  test('that calls again runs the next pass at once, and then one per period', async () => {
    let left = 3
    const { platform, passes, duty } = bench({
      async pass(_signal, _works, again) {
        passes.push({ at: platform.monotonic(), signal: _signal })
        left -= 1
        if (left > 0) again()
      },
    })
    await duty.start()
    await platform.settled()
    expect(passes.map(({ at }) => at)).toEqual([0, 0, 0])
    await platform.advance('8s')
    expect(passes).toHaveLength(3)
  })

  test('started twice runs once', async () => {
    const { platform, passes, duty } = bench()
    await duty.start()
    await duty.start()
    await platform.settled()
    expect(passes).toHaveLength(1)
  })

  test('aborts a pass that takes too long, reports it, and runs it again', async () => {
    const { platform, passes, duty, troubles, events, state } = bench()
    state.work = untilTold
    await duty.start()
    await platform.advance(2_999)
    expect([passes[0]?.signal.aborted, troubles()]).toEqual([false, []])
    await platform.advance(1)
    expect([passes[0]?.signal.aborted, troubles()]).toEqual([true, ['duty-failing']])
    const failing = events.find(({ type }) => type === 'duty-failing')
    expect(String(failing?.error)).toContain('sweep took longer than 3000 ms')
    state.work = async () => {}
    await platform.advance('1s')
    expect(passes).toHaveLength(2)
    expect(troubles()).toEqual(['duty-failing', 'duty-back'])
    expect(state.mostAtOnce).toBe(1)
  })

  test('never runs two passes at a time, even if one does not end at its deadline', async () => {
    const { platform, passes, duty, state } = bench()
    const late = Promise.withResolvers<void>()
    state.work = () => late.promise
    await duty.start()
    await platform.advance('20s')
    state.work = async () => {}
    late.resolve()
    await platform.advance('20s')
    expect(passes.length).toBeGreaterThan(1)
    expect(state.mostAtOnce).toBe(1)
  })

  test('retries a failed pass with backoff up to the period, which starts over after a success', async () => {
    const { platform, duty, troubles, apart, state } = bench()
    state.work = () => Promise.reject(new Error('no'))
    await duty.start()
    await platform.advance('60s')
    const pauses = apart()
    for (const [n, pause] of pauses.entries()) {
      const full = Math.min(10_000, 1_000 * 2 ** n)
      expect(pause).toBeGreaterThanOrEqual(full / 2)
      expect(pause).toBeLessThanOrEqual(full + 1)
    }
    expect(pauses.length).toBeGreaterThanOrEqual(6)
    // Reported once, however often it fails, and counted each time.
    expect(troubles()).toEqual(['duty-failing'])
    expect(duty.status()).toMatchObject({
      failures: pauses.length + 1,
      failed: pauses.length + 1,
      error: 'Error: no',
    })
    expect(duty.status().succeededAgoMs).toBeNull()
    const before = apart().length
    state.work = async () => {
      state.work = () => Promise.reject(new Error('again'))
    }
    await platform.advance('60s')
    expect(troubles()).toContain('duty-back')
    const [, period = 0, first = 0, second = 0] = apart().slice(before)
    expect(period).toBeGreaterThanOrEqual(9_000)
    expect(first).toBeLessThanOrEqual(1_001)
    expect(second).toBeLessThanOrEqual(2_001)
  })

  test('that throws synchronously fails like any other', async () => {
    const platform = testPlatform()
    let passes = 0
    const duty = createDuty({
      name: 'hasty',
      everyMs: 10_000,
      deadlineMs: 3_000,
      pass() {
        passes += 1
        throw new Error('at once')
      },
      forAll: false,
      platform,
      emit: () => {},
    })
    await duty.start()
    await platform.advance('2s')
    expect(passes).toBeGreaterThanOrEqual(2)
    await duty.stop()
  })
})

describe('a duty that stops', () => {
  test('does not wait for the end of its period, and starts no pass', async () => {
    const { platform, passes, duty } = bench()
    await duty.start()
    await platform.advance('1s')
    await duty.stop()
    expect(platform.pendingTimers).toBe(0)
    await platform.advance('1h')
    expect(passes).toHaveLength(1)
  })

  test('ends a backoff too', async () => {
    const { platform, duty, state } = bench()
    state.work = () => Promise.reject(new Error('no'))
    await duty.start()
    await platform.advance('30s')
    await duty.stop()
    expect(platform.pendingTimers).toBe(0)
  })

  test('aborts a pass in progress, waits for it, and does not count it as a failure', async () => {
    const { platform, passes, duty, troubles, state } = bench()
    const ending = Promise.withResolvers<void>()
    state.work = async (signal) => {
      await untilTold(signal)
      await ending.promise
      throw new Error('cut short')
    }
    await duty.start()
    await platform.settled()
    let stopped = false
    const stopping = duty.stop().then(() => (stopped = true))
    await platform.settled()
    expect([passes[0]?.signal.aborted, stopped]).toEqual([true, false])
    ending.resolve()
    await stopping
    expect([troubles(), platform.pendingTimers]).toEqual([[], 0])
  })

  test('can stop before its start, and twice', async () => {
    const { duty } = bench()
    await duty.stop()
    await duty.start()
    await Promise.all([duty.stop(), duty.stop()])
    const { platform, duty: never, passes } = bench()
    await never.stop()
    await platform.advance('1h')
    expect(passes).toEqual([])
  })
})

describe('a duty that is requested', () => {
  test('runs a pass at once, and one more after the one in progress, however often it is requested', async () => {
    const { platform, passes, duty, state } = bench({ everyMs: null })
    await duty.start()
    await platform.advance('1h')
    expect(passes).toHaveLength(1)
    const ending = Promise.withResolvers<void>()
    state.work = () => ending.promise
    duty.soon()
    await platform.settled()
    for (let n = 0; n < 5; n += 1) duty.soon()
    await platform.settled()
    expect(passes).toHaveLength(2)
    ending.resolve()
    await platform.settled()
    await platform.advance('1h')
    expect([passes.length, state.mostAtOnce]).toEqual([3, 1])
  })

  test('waits for the end of its backoff while it fails', async () => {
    const { platform, passes, duty, state } = bench({ everyMs: null })
    state.work = () => Promise.reject(new Error('no'))
    await duty.start()
    await platform.advance('1m')
    const before = passes.length
    for (let n = 0; n < 5; n += 1) duty.soon()
    await platform.advance(100)
    expect(passes.length - before).toBeLessThanOrEqual(1)
  })

  test('manually returns what it did, even before its start, and rejects with its error', async () => {
    const { duty, state, events } = bench()
    state.work = async () => ({ swept: 3 })
    expect(await duty.once()).toEqual({ swept: 3 })
    expect(events).toEqual([{ type: 'duty-done', duty: 'sweep', counts: { swept: 3 }, tookMs: 0 }])
    state.work = () => Promise.reject(new Error('no'))
    await expect(duty.once()).rejects.toThrow('no')
    expect(duty.status()).toMatchObject({ passes: 2, failures: 1, failed: 1 })
  })

  test('manually does not overlap a pass in progress', async () => {
    const { platform, duty, state, passes } = bench()
    const ending = Promise.withResolvers<void>()
    state.work = () => ending.promise
    await duty.start()
    await platform.settled()
    const byHand = duty.once()
    await platform.settled()
    expect(passes).toHaveLength(1)
    ending.resolve()
    await byHand
    expect([passes.length, state.mostAtOnce]).toEqual([2, 1])
  })
})

describe('a duty that has nothing to do', () => {
  test('runs no pass after the first, and counts that as a success', async () => {
    let isNeeded = false
    const { platform, passes, duty } = bench({ needed: () => isNeeded })
    await duty.start()
    await platform.advance('10m')
    expect(passes).toHaveLength(1)
    expect(duty.status().succeededAgoMs).toBeLessThanOrEqual(11_000)
    isNeeded = true
    await platform.advance('11s')
    expect(passes.length).toBeGreaterThan(1)
  })

  test('emits no event for a pass that did nothing', async () => {
    const { platform, events, duty, state } = bench()
    state.work = async () => ({ swept: 0 })
    await duty.start()
    await platform.advance('1m')
    expect(events).toEqual([
      { type: 'duty-started', duty: 'sweep', everyMs: 10_000, deadlineMs: 3_000, forAll: false },
    ])
    await duty.stop()
    expect(events.at(-1)).toEqual({ type: 'duty-stopped', duty: 'sweep', passes: duty.status().passes })
  })
})

describe('a duty for the whole cluster', () => {
  test('rests until this instance leads it, then runs a pass at once, and rests when another one leads', async () => {
    const { platform, passes, duty, events, state } = bench({ forAll: true })
    await duty.start()
    await platform.advance('1h')
    expect(passes).toEqual([])
    duty.leads(true)
    await platform.settled()
    expect(passes).toHaveLength(1)
    await platform.advance('11s')
    expect(passes).toHaveLength(2)
    state.work = untilTold
    await platform.advance('11s')
    expect(passes.at(-1)?.signal.aborted).toBe(false)
    duty.leads(false)
    await platform.settled()
    expect(passes.at(-1)?.signal.aborted).toBe(true)
    const before = passes.length
    await platform.advance('1h')
    expect(passes).toHaveLength(before)
    duty.soon()
    await platform.advance('1m')
    expect(passes).toHaveLength(before)
    expect(events.filter(({ type }) => type === 'leading' || type === 'led')).toHaveLength(2)
    state.work = async () => {}
    duty.leads(true)
    await platform.settled()
    expect(passes).toHaveLength(before + 1)
  })

  test('that loses its lead during a pass does not count it as a failure', async () => {
    const { platform, duty, troubles, state } = bench({ forAll: true })
    state.work = async (signal) => {
      await untilTold(signal)
      throw new Error('cut short')
    }
    await duty.start()
    duty.leads(true)
    await platform.settled()
    duty.leads(false)
    await platform.settled()
    expect(troubles()).toEqual([])
  })
})

describe('a duty without an end', () => {
  test('that returns has failed, and is restarted', async () => {
    const { platform, passes, duty, troubles, events, state } = bench({ everyMs: null, deadlineMs: null })
    await duty.start()
    await platform.settled()
    expect(troubles()).toEqual(['duty-failing'])
    expect(String(events.find(({ type }) => type === 'duty-failing')?.error)).toContain(
      'it should run until stopped',
    )
    state.work = untilTold
    await platform.advance('1h')
    expect(passes).toHaveLength(2)
    await duty.stop()
    expect(troubles()).toEqual(['duty-failing', 'duty-back'])
  })
})

describe('a pass that continues past its deadline', () => {
  test('counts as hanging until it ends, so that another instance can lead its duty', async () => {
    const { platform, duty, state } = bench({ forAll: true })
    const late = Promise.withResolvers<void>()
    state.work = () => late.promise
    await duty.start()
    duty.leads(true)
    await platform.advance(2_999)
    expect(duty.isHanging()).toBe(false)
    await platform.advance('1m')
    expect(duty.isHanging()).toBe(true)
    late.resolve()
    await platform.settled()
    expect(duty.isHanging()).toBe(false)
  })

  test('has a backoff of at most longestPauseMs after failures', async () => {
    const { platform, duty, apart, state } = bench({ everyMs: null, longestPauseMs: 2_000 })
    state.work = () => Promise.reject(new Error('no'))
    await duty.start()
    await platform.advance('1m')
    expect(Math.max(...apart())).toBeLessThanOrEqual(2_001)
  })
})
