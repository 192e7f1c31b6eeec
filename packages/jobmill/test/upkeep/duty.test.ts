// The supervisor of a duty: a pass at once, then one per period; never two at a time; again after an error; ended by stop.
import { describe, expect, onTestFinished, test } from 'vitest'
import { testPlatform } from '../../src/testing/index.ts'
import { duty as createDuty } from '../../src/upkeep/duty.ts'

function bench() {
  const platform = testPlatform()
  const passes: { readonly at: number; readonly signal: AbortSignal }[] = []
  const told: string[] = []
  const errors: unknown[] = []
  const state = { atOnce: 0, mostAtOnce: 0, work: async (_signal: AbortSignal): Promise<void> => {} }
  const duty = createDuty({
    name: 'sweep',
    everyMs: 10_000,
    deadlineMs: 3_000,
    async pass(signal) {
      passes.push({ at: platform.monotonic(), signal })
      state.atOnce += 1
      state.mostAtOnce = Math.max(state.mostAtOnce, state.atOnce)
      try {
        await state.work(signal)
      } finally {
        state.atOnce -= 1
      }
    },
    platform,
    failing(error) {
      told.push('failing')
      errors.push(error)
    },
    working: () => void told.push('working'),
  })
  onTestFinished(() => duty.stop())
  const apart = (): number[] => passes.slice(1).map(({ at }, n) => at - (passes[n]?.at ?? 0))
  return { platform, passes, told, errors, state, duty, apart }
}

/** Ends when it is told to, as a pass should. */
const untilTold = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve()))

describe('a duty', () => {
  test('makes a pass at once, and then one per period with jitter', async () => {
    const { platform, passes, duty, apart, told } = bench()
    await duty.start()
    await platform.settled()
    expect(passes.map(({ at }) => at)).toEqual([0])
    await platform.advance('10m')
    for (const ms of apart()) {
      expect(ms).toBeGreaterThanOrEqual(9_000)
      expect(ms).toBeLessThanOrEqual(11_000)
    }
    expect(new Set(apart()).size).toBeGreaterThan(10)
    expect(new Set(told)).toEqual(new Set(['working']))
  })

  test('started twice makes the passes of one', async () => {
    const { platform, passes, duty } = bench()
    await duty.start()
    await duty.start()
    await platform.settled()
    expect(passes).toHaveLength(1)
  })

  test('gives a pass that takes too long its signal, tells of it, and makes it again', async () => {
    const { platform, passes, duty, told, errors, state } = bench()
    state.work = untilTold
    await duty.start()
    await platform.advance(2_999)
    expect([passes[0]?.signal.aborted, told]).toEqual([false, []])
    await platform.advance(1)
    expect([passes[0]?.signal.aborted, told]).toEqual([true, ['failing']])
    expect(String(errors[0])).toContain('sweep took longer than 3000 ms')
    state.work = async () => {}
    await platform.advance('1s')
    expect(passes).toHaveLength(2)
    expect(told).toEqual(['failing', 'working'])
    expect(state.mostAtOnce).toBe(1)
  })

  test('never has two passes at a time, also when one does not end at its deadline', async () => {
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

  test('makes a pass that failed again after pauses that grow up to the period, and short ones after a success', async () => {
    const { platform, duty, told, apart, state } = bench()
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
    expect(new Set(told)).toEqual(new Set(['failing']))
    state.work = async () => {
      state.work = () => Promise.reject(new Error('again'))
    }
    await platform.advance('60s')
    expect(told).toContain('working')
    const [period = 0, first = 0, second = 0] = apart().slice(told.indexOf('working'))
    expect(period).toBeGreaterThanOrEqual(9_000)
    expect(first).toBeLessThanOrEqual(1_001)
    expect(second).toBeLessThanOrEqual(2_001)
  })

  test('that throws before it returns a promise fails like any other', async () => {
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
      platform,
      failing: () => {},
      working: () => {},
    })
    await duty.start()
    await platform.advance('2s')
    expect(passes).toBeGreaterThanOrEqual(2)
    await duty.stop()
  })
})

describe('a duty that is stopped', () => {
  test('does not wait for the end of its pause, and begins no pass', async () => {
    const { platform, passes, duty } = bench()
    await duty.start()
    await platform.advance('1s')
    await duty.stop()
    expect(platform.pendingTimers).toBe(0)
    await platform.advance('1h')
    expect(passes).toHaveLength(1)
  })

  test('ends the pause after an error too', async () => {
    const { platform, duty, state } = bench()
    state.work = () => Promise.reject(new Error('no'))
    await duty.start()
    await platform.advance('30s')
    await duty.stop()
    expect(platform.pendingTimers).toBe(0)
  })

  test('gives a pass on its way its signal, waits for it, and does not call that a failure', async () => {
    const { platform, passes, duty, told, state } = bench()
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
    expect([told, platform.pendingTimers]).toEqual([[], 0])
  })

  test('is safe before it was started, and twice', async () => {
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
