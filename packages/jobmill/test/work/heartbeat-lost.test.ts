// An instance that cannot renew considers itself lost without a notice, and returns on its own.
import { describe, expect, test } from 'vitest'
import { unavailable } from './leases.ts'
import { CALM, heartbeatBench as bench } from './heartbeat-bench.ts'

describe('an instance that cannot renew', () => {
  test('is lost when its lease expires by its own clock, counted from the sending of the last renewal', async () => {
    const { platform, heartbeat, state, heartbeats, events } = bench()
    heartbeat.start(platform.monotonic())
    await platform.advance('4s')
    const renewedAt = heartbeats.findLast(({ renews }) => renews)?.at ?? 0
    expect(renewedAt).toBeGreaterThan(2_999)
    state.answer = () => Promise.reject(unavailable())
    await platform.advance(renewedAt + 9_999 - platform.monotonic())
    expect([heartbeat.alive, events()]).toEqual([true, []])
    await platform.advance(1)
    expect([heartbeat.alive, events()]).toEqual([false, [`lost at ${renewedAt + 10_000}`]])
    await platform.advance('60s')
    expect(events()).toHaveLength(1)
  })

  test('is lost if every renewal hangs', async () => {
    const { platform, heartbeat, state, events } = bench()
    heartbeat.start(platform.monotonic())
    await platform.settled()
    state.answer = () => new Promise(() => {})
    await platform.advance(9_999)
    expect(events()).toEqual([])
    await platform.advance(1)
    expect(events()).toEqual(['lost at 10000'])
  })

  test('counts a renewal with a late reply from its sending: the database may have applied it then', async () => {
    const { platform, heartbeat, state, heartbeats, events } = bench()
    heartbeat.start(platform.monotonic())
    await platform.settled()
    const late = Promise.withResolvers<typeof CALM>()
    state.answer = () => (heartbeats.at(-1)?.renews === true ? late.promise : Promise.resolve(CALM))
    while (heartbeats.at(-1)?.renews !== true) await platform.advanceToNextTimer()
    const sentAt = heartbeats.at(-1)?.at ?? 0
    await platform.advance('3s')
    state.answer = () => Promise.reject(unavailable())
    late.resolve(CALM)
    await platform.advance('20s')
    expect(events()).toEqual([`lost at ${sentAt + 10_000}`])
  })

  test('recovers with the first successful renewal, which it sends whatever its age', async () => {
    const { platform, heartbeat, state, heartbeats, events } = bench()
    heartbeat.start(platform.monotonic())
    await platform.settled()
    state.answer = () => Promise.reject(unavailable())
    await platform.advance('15s')
    expect(heartbeat.alive).toBe(false)
    state.answer = async () => CALM
    await platform.advance('1s')
    expect(heartbeat.alive).toBe(true)
    expect(events().map((one) => one.split(' ')[0])).toEqual(['lost', 'back'])
    expect(heartbeats.filter(({ at }) => at > 10_000).slice(0, 3)).toMatchObject([
      { renews: true },
      { renews: true },
      { renews: true },
    ])
    await platform.advance('60s')
    expect(events()).toHaveLength(2)
  })

  test('is lost at once if the database reports it dead, then registers and recovers', async () => {
    const { platform, heartbeat, state, events, replies } = bench()
    heartbeat.start(platform.monotonic())
    await platform.settled()
    state.answer = async () => {
      state.answer = async () => CALM
      return { ...CALM, alive: false, ready: true }
    }
    await platform.advance('1s')
    expect(events().map((one) => one.split(' ')[0])).toEqual(['lost', 'register', 'back'])
    expect(replies.some(({ ready }) => ready)).toBe(true)
    expect(heartbeat.alive).toBe(true)
  })

  test('registers until it succeeds, and holds no lease before that', async () => {
    const { platform, heartbeat, state, events } = bench()
    heartbeat.start(platform.monotonic())
    await platform.settled()
    state.answer = async () => ({ ...CALM, alive: false })
    state.register = () => Promise.reject(unavailable())
    await platform.advance('3s')
    expect(heartbeat.alive).toBe(false)
    const tries = events().filter((one) => one.startsWith('register')).length
    expect(tries).toBeGreaterThan(3)
    state.register = async () => {
      state.answer = async () => CALM
    }
    await platform.advance('1s')
    expect(heartbeat.alive).toBe(true)
    expect(events().filter((one) => one.startsWith('lost'))).toHaveLength(1)
  })
})
