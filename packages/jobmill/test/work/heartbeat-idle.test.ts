/** The pace of the heartbeat of an idle instance. */
import { describe, expect, test } from 'vitest'
import type { Heartbeat } from '../../src/store/types/instance.ts'
import { unavailable } from './leases.ts'
import { CALM, heartbeatBench } from './heartbeat-bench.ts'

const IDLE_MS = 2_500

/** A heartbeat that has been at the idle pace for a while; `heartbeats` then starts empty. */
async function idleBench() {
  const bench = heartbeatBench({ idleEveryMs: IDLE_MS })
  bench.heartbeat.start(bench.platform.monotonic())
  await bench.platform.advance('20s')
  bench.heartbeats.length = 0
  return bench
}

describe('the heartbeat of an idle instance', () => {
  test('P15 is sent at the idle pace, and renews the lease in time', async () => {
    const { platform, heartbeats, apart, heartbeat } = await idleBench()
    await platform.advance('60s')
    expect(heartbeats.length).toBeLessThanOrEqual(60_000 / (IDLE_MS * 0.95) + 1)
    expect(Math.min(...apart())).toBeGreaterThanOrEqual(IDLE_MS * 0.95)
    expect(Math.max(...apart())).toBeLessThanOrEqual(IDLE_MS * 1.05)
    const renewals = heartbeats.filter(({ renews }) => renews).map(({ at }) => at)
    for (const [n, at] of renewals.entries()) expect(at - (renewals[n - 1] ?? at)).toBeLessThanOrEqual(3_150)
    expect(renewals.length).toBeGreaterThanOrEqual(19)
    expect(heartbeat.isSteady).toBe(true)
  })

  test('the pace changes only a while after the start, and never delays a renewal', async () => {
    const { platform, heartbeats, heartbeat, apart } = heartbeatBench({ idleEveryMs: IDLE_MS })
    heartbeat.start(platform.monotonic())
    await platform.advance(IDLE_MS)
    expect(Math.max(...apart())).toBeLessThanOrEqual(630)
    await platform.advance('10s')
    const renewals = [0, ...heartbeats.filter(({ renews }) => renews).map(({ at }) => at)]
    for (const [n, at] of renewals.entries())
      expect(at - (renewals[n - 1] ?? at)).toBeLessThanOrEqual(3_000 + 630)
  })

  test('P8 is sent within a fast period once there is work, and then at the fast pace', async () => {
    for (const afterMs of [0, 500, 1_500]) {
      const { platform, heartbeats, state, heartbeat, apart } = await idleBench()
      await platform.advance(afterMs)
      const at = platform.monotonic()
      state.isIdle = false
      heartbeat.wake(at)
      await platform.advance('5s')
      expect(heartbeats.find((one) => one.at >= at)?.at).toBeLessThanOrEqual(at + 630)
      expect(Math.max(...apart().slice(1))).toBeLessThanOrEqual(630)
    }
  })

  test('stays at the fast pace for a while after the last work, so that retries that are due soon are seen', async () => {
    const { platform, heartbeats, heartbeat } = await idleBench()
    const at = platform.monotonic()
    heartbeat.wake(at)
    await platform.advance('10s')
    const soon = heartbeats.filter((one) => one.at > at && one.at <= at + IDLE_MS)
    expect(soon.length).toBeGreaterThanOrEqual(3)
    const last = heartbeats.slice(-2).map((one) => one.at)
    expect((last[1] ?? 0) - (last[0] ?? 0)).toBeGreaterThanOrEqual(IDLE_MS * 0.95)
  })

  test.each<[string, Partial<Heartbeat>]>([
    ['a ready job', { ready: true }],
    ['a quarantined job', { quarantined: true }],
    ['a job that is due', { stageInMs: 0 }],
    ['a job that waits for a limit', { budgetInMs: 5_000 }],
    ['a tick that is due', { scheduleInMs: 0 }],
    ['an expired instance', { expired: true }],
    ['a cancel', { cancels: [{ id: 'a', token: 1, reason: 'why' }] }],
  ])('P15 %s in its reply ends the idle pace', async (_, work) => {
    const { platform, heartbeats, state, apart } = await idleBench()
    state.answer = async () => ({ ...CALM, ...work })
    await platform.advance('12s')
    expect(heartbeats.length).toBeGreaterThanOrEqual(14)
    expect(Math.max(...apart())).toBeLessThanOrEqual(630)
  })

  test('P16 a heartbeat that fails ends the idle pace', async () => {
    const { platform, heartbeats, state } = await idleBench()
    state.answer = () => Promise.reject(unavailable())
    await platform.advance('8s')
    expect(heartbeats.length).toBeGreaterThanOrEqual(8)
  })

  test('is sent when a job is due, before the next one of the pace', async () => {
    const { platform, heartbeats, state } = await idleBench()
    state.answer = async () => ({ ...CALM, stageInMs: 1_200 })
    await platform.advance('3s')
    state.answer = async () => CALM
    await platform.advance('3s')
    const [first, second] = heartbeats
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBe(1_200)
  })
})
