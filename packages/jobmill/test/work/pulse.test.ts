// The heartbeat: what it asks, how often, and how it is hurried.
import { describe, expect, test } from 'vitest'
import type { Pulse } from '../../src/store/instance.ts'
import { microtasks, unavailable } from './leases.ts'
import { CALM, pulseBench as bench } from './pulse-bench.ts'

describe('a pulse', () => {
  test('beats at once, and then about every period, never exactly', async () => {
    const { platform, beats, pulse, apart, heard } = bench()
    pulse.start(platform.monotonic())
    await platform.settled()
    expect(beats).toHaveLength(1)
    await platform.advance('60s')
    for (const ms of apart()) {
      expect(ms).toBeGreaterThanOrEqual(570)
      expect(ms).toBeLessThanOrEqual(630)
    }
    expect(new Set(apart()).size).toBeGreaterThan(10)
    expect(heard).toHaveLength(beats.length)
  })

  test('writes only when the last renewal is old enough', async () => {
    const { platform, beats, pulse } = bench()
    pulse.start(platform.monotonic())
    await platform.advance('60s')
    const renewals = beats.filter(({ renews }) => renews).map(({ at }) => at)
    expect(renewals.length).toBeGreaterThan(15)
    for (const [n, at] of renewals.entries()) {
      const since = at - (renewals[n - 1] ?? 0)
      expect(since).toBeGreaterThanOrEqual(3_000)
      expect(since).toBeLessThanOrEqual(3_000 + 630)
    }
  })

  test('comes earlier when something is due earlier', async () => {
    const { platform, beats, pulse, state } = bench()
    state.answer = async () => ({ ...CALM, stageInMs: 40 })
    pulse.start(platform.monotonic())
    await platform.settled()
    state.answer = async () => CALM
    await platform.advance(600)
    expect(beats.map(({ at }) => at)).toEqual([0, 40])
  })

  test('goes on when a beat fails, and when one hangs: another connection may be well', async () => {
    const { platform, beats, pulse, state, told } = bench()
    pulse.start(platform.monotonic())
    await platform.settled()
    state.answer = () => Promise.reject(unavailable())
    await platform.advance('2s')
    expect(beats.length).toBeGreaterThanOrEqual(4)
    state.answer = () => new Promise(() => {})
    await platform.advance('9s')
    const before = beats.length
    state.answer = async () => CALM
    await platform.advance('5s')
    expect(beats.length).toBeGreaterThan(before + 2)
    expect(told.length).toBeGreaterThanOrEqual(4)
    expect(pulse.alive).toBe(true)
  })

  test('stops with the beat that is on its way, leaves no timer, and says nothing afterwards', async () => {
    const { platform, beats, pulse, heard, state } = bench()
    const answer = Promise.withResolvers<Pulse>()
    state.answer = () => answer.promise
    pulse.start(platform.monotonic())
    await platform.settled()
    let stopped = false
    const stopping = pulse.stop().then(() => (stopped = true))
    await microtasks(10)
    expect(stopped).toBe(false)
    answer.resolve(CALM)
    await stopping
    pulse.hurry()
    await platform.advance('60s')
    expect([beats.length, heard.length, platform.pendingTimers]).toEqual([1, 0, 0])
  })
})

describe('a pulse that is hurried', () => {
  test('beats at once, but never more often than ten times a second', async () => {
    const { platform, beats, pulse, apart } = bench()
    pulse.start(platform.monotonic())
    await platform.advance(300)
    pulse.hurry()
    await platform.settled()
    expect(beats.map(({ at }) => at)).toEqual([0, 300])
    for (let n = 0; n < 1_000; n += 1) {
      pulse.hurry()
      await platform.advance(1)
    }
    expect(Math.min(...apart())).toBeGreaterThanOrEqual(100)
    expect(beats.length).toBeLessThanOrEqual(13)
    expect(beats.length).toBeGreaterThanOrEqual(11)
  })

  test('while a beat is on its way beats once more after it', async () => {
    const { platform, beats, pulse, state } = bench()
    const answer = Promise.withResolvers<Pulse>()
    state.answer = () => answer.promise
    pulse.start(platform.monotonic())
    await platform.settled()
    pulse.hurry()
    pulse.hurry()
    state.answer = async () => CALM
    await platform.advance(50)
    answer.resolve(CALM)
    await platform.advance(50)
    expect(beats.map(({ at }) => at)).toEqual([0, 100])
    await platform.advance(400)
    expect(beats).toHaveLength(2)
  })

  test('at whatever moment around the end of a beat, beats soon', async () => {
    for (let moment = 0; moment < 12; moment += 1) {
      const { platform, beats, pulse, state } = bench()
      const answer = Promise.withResolvers<Pulse>()
      state.answer = () => answer.promise
      pulse.start(platform.monotonic())
      await platform.settled()
      state.answer = async () => CALM
      answer.resolve(CALM)
      await microtasks(moment)
      pulse.hurry()
      await platform.advance(110)
      expect(beats.length, `hurried ${moment} microtasks after the answer`).toBe(2)
      await pulse.stop()
    }
  })

  test('does not put off a beat that was due sooner', async () => {
    const { platform, beats, pulse, state } = bench()
    state.answer = async () => ({ ...CALM, stageInMs: 40 })
    pulse.start(platform.monotonic())
    await platform.settled()
    state.answer = async () => CALM
    pulse.hurry()
    await platform.advance(100)
    expect(beats[1]?.at).toBe(40)
  })

  test('P15 comes no sooner than a moment for what is due next, so that many share a beat', async () => {
    const { platform, beats, pulse, state } = bench()
    state.answer = async () => ({ ...CALM, stageInMs: 3 })
    pulse.start(platform.monotonic())
    await platform.advance(1_000)
    expect(beats.length).toBeLessThanOrEqual(41)
    expect(beats.length).toBeGreaterThan(30)
  })
})
