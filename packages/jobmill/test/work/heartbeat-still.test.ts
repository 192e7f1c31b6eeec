/** An expired lease: was the database away, or was this process paused? */
import { expect, test } from 'vitest'
import type { Heartbeat } from '../../src/store/types/instance.ts'
import { heartbeatService } from '../../src/work/heartbeat/heartbeat.ts'
import { fakePlatform } from '../unit/support.ts'
import { CALM } from './heartbeat-bench.ts'

/** Yields to the event loop, so that answers arrive. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function still(renew: () => Promise<Heartbeat>) {
  const platform = fakePlatform()
  const lost: boolean[] = []
  const heartbeat = heartbeatService({
    renew,
    register: async () => {},
    queues: () => [],
    duties: () => [],
    onHeartbeat: () => {},
    lost: (blocked) => void lost.push(blocked),
    renewed: () => {},
    back: () => {},
    leaseMs: 10_000,
    renewEveryMs: 3_000,
    everyMs: 600,
    platform,
    failing: () => {},
    working: () => {},
  })
  heartbeat.start(platform.monotonic())
  return { platform, heartbeat, lost }
}

test('P5 the process was paused if all timers fire at once after a time without an event loop turn', async () => {
  const { platform, heartbeat, lost } = still(() => Promise.resolve(CALM))
  for (let heartbeat = 0; heartbeat < 10; heartbeat += 1) {
    platform.advance(600)
    await turn()
  }
  expect(lost).toEqual([])
  platform.advance(12_000)
  expect(lost).toEqual([true])
  await heartbeat.stop()
})

test.each([
  ['refuses', () => Promise.reject(new Error('away'))],
  ['hangs', () => new Promise<Heartbeat>(() => {})],
])('a database that %s does not count as a paused process', async (_, renew) => {
  const { platform, heartbeat, lost } = still(renew)
  for (let step = 0; step < 300 && lost.length === 0; step += 1) {
    platform.advance(50)
    await turn()
  }
  expect(lost).toEqual([false])
  const stopped = heartbeat.stop()
  platform.advance(10_000)
  await stopped
})

test('P2 its lease is over by the clock, even before the timer that says so has fired', async () => {
  const { platform, heartbeat } = still(() => Promise.resolve(CALM))
  platform.stand(9_999)
  expect(heartbeat.alive).toBe(true)
  platform.stand(1)
  expect(heartbeat.alive).toBe(false)
  await heartbeat.stop()
})
