// The heartbeat: its content, its period, and how it is sent early.
import { describe, expect, test } from 'vitest'
import type { Heartbeat } from '../../src/store/types/instance.ts'
import { microtasks, unavailable } from './leases.ts'
import { CALM, heartbeatBench as bench } from './heartbeat-bench.ts'

describe('a heartbeat', () => {
  test('is sent at once and then about once per period, with jitter', async () => {
    const { platform, heartbeats, heartbeat, apart, replies } = bench()
    heartbeat.start(platform.monotonic())
    await platform.settled()
    expect(heartbeats).toHaveLength(1)
    await platform.advance('60s')
    for (const ms of apart()) {
      expect(ms).toBeGreaterThanOrEqual(570)
      expect(ms).toBeLessThanOrEqual(630)
    }
    expect(new Set(apart()).size).toBeGreaterThan(10)
    expect(replies).toHaveLength(heartbeats.length)
  })

  test('renews the lease only if the last renewal is old enough', async () => {
    const { platform, heartbeats, heartbeat } = bench()
    heartbeat.start(platform.monotonic())
    await platform.advance('60s')
    const renewals = heartbeats.filter(({ renews }) => renews).map(({ at }) => at)
    expect(renewals.length).toBeGreaterThan(15)
    for (const [n, at] of renewals.entries()) {
      const since = at - (renewals[n - 1] ?? 0)
      expect(since).toBeGreaterThanOrEqual(3_000)
      expect(since).toBeLessThanOrEqual(3_000 + 630)
    }
  })

  test('is sent earlier if a job is due earlier', async () => {
    const { platform, heartbeats, heartbeat, state } = bench()
    state.answer = async () => ({ ...CALM, stageInMs: 40 })
    heartbeat.start(platform.monotonic())
    await platform.settled()
    state.answer = async () => CALM
    await platform.advance(600)
    expect(heartbeats.map(({ at }) => at)).toEqual([0, 40])
  })

  test('continues after one fails, and while one hangs: another connection may work', async () => {
    const { platform, heartbeats, heartbeat, state, calls } = bench()
    heartbeat.start(platform.monotonic())
    await platform.settled()
    state.answer = () => Promise.reject(unavailable())
    await platform.advance('2s')
    expect(heartbeats.length).toBeGreaterThanOrEqual(4)
    state.answer = () => new Promise(() => {})
    await platform.advance('9s')
    const before = heartbeats.length
    state.answer = async () => CALM
    await platform.advance('5s')
    expect(heartbeats.length).toBeGreaterThan(before + 2)
    expect(calls.length).toBeGreaterThanOrEqual(4)
    expect(heartbeat.alive).toBe(true)
  })

  test('stops after the one in flight, and leaves no timer and no callback', async () => {
    const { platform, heartbeats, heartbeat, replies, state } = bench()
    const answer = Promise.withResolvers<Heartbeat>()
    state.answer = () => answer.promise
    heartbeat.start(platform.monotonic())
    await platform.settled()
    let stopped = false
    const stopping = heartbeat.stop().then(() => (stopped = true))
    await microtasks(10)
    expect(stopped).toBe(false)
    answer.resolve(CALM)
    await stopping
    heartbeat.hurry()
    await platform.advance('60s')
    expect([heartbeats.length, replies.length, platform.pendingTimers]).toEqual([1, 0, 0])
  })
})

describe('hurry', () => {
  test('sends a heartbeat at once, but at most ten per second', async () => {
    const { platform, heartbeats, heartbeat, apart } = bench()
    heartbeat.start(platform.monotonic())
    await platform.advance(300)
    heartbeat.hurry()
    await platform.settled()
    expect(heartbeats.map(({ at }) => at)).toEqual([0, 300])
    for (let n = 0; n < 1_000; n += 1) {
      heartbeat.hurry()
      await platform.advance(1)
    }
    expect(Math.min(...apart())).toBeGreaterThanOrEqual(100)
    expect(heartbeats.length).toBeLessThanOrEqual(13)
    expect(heartbeats.length).toBeGreaterThanOrEqual(11)
  })

  test('during a heartbeat sends one more after it', async () => {
    const { platform, heartbeats, heartbeat, state } = bench()
    const answer = Promise.withResolvers<Heartbeat>()
    state.answer = () => answer.promise
    heartbeat.start(platform.monotonic())
    await platform.settled()
    heartbeat.hurry()
    heartbeat.hurry()
    state.answer = async () => CALM
    await platform.advance(50)
    answer.resolve(CALM)
    await platform.advance(50)
    expect(heartbeats.map(({ at }) => at)).toEqual([0, 100])
    await platform.advance(400)
    expect(heartbeats).toHaveLength(2)
  })

  test('around the end of a heartbeat sends one soon', async () => {
    for (let moment = 0; moment < 12; moment += 1) {
      const { platform, heartbeats, heartbeat, state } = bench()
      const answer = Promise.withResolvers<Heartbeat>()
      state.answer = () => answer.promise
      heartbeat.start(platform.monotonic())
      await platform.settled()
      state.answer = async () => CALM
      answer.resolve(CALM)
      await microtasks(moment)
      heartbeat.hurry()
      await platform.advance(110)
      expect(heartbeats.length, `hurried ${moment} microtasks after the answer`).toBe(2)
      await heartbeat.stop()
    }
  })

  test('does not delay a heartbeat that was due sooner', async () => {
    const { platform, heartbeats, heartbeat, state } = bench()
    state.answer = async () => ({ ...CALM, stageInMs: 40 })
    heartbeat.start(platform.monotonic())
    await platform.settled()
    state.answer = async () => CALM
    heartbeat.hurry()
    await platform.advance(100)
    expect(heartbeats[1]?.at).toBe(40)
  })

  test('P15 waits briefly for the next due job, so that many jobs share a heartbeat', async () => {
    const { platform, heartbeats, heartbeat, state } = bench()
    state.answer = async () => ({ ...CALM, stageInMs: 3 })
    heartbeat.start(platform.monotonic())
    await platform.advance(1_000)
    expect(heartbeats.length).toBeLessThanOrEqual(41)
    expect(heartbeats.length).toBeGreaterThan(30)
  })
})
