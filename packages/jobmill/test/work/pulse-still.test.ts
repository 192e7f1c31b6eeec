/** A lease that ran out: was the database away, or did this process stand still? */
import { expect, test } from 'vitest'
import type { Pulse } from '../../src/store/instance.ts'
import { pulseService } from '../../src/work/pulse.ts'
import { fakePlatform } from '../unit/support.ts'
import { CALM } from './pulse-bench.ts'

/** Lets go of the loop, so that answers arrive. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function still(renew: () => Promise<Pulse>) {
  const platform = fakePlatform()
  const lost: boolean[] = []
  const pulse = pulseService({
    renew,
    register: async () => {},
    queues: () => [],
    duties: () => [],
    heard: () => {},
    lost: (blocked) => void lost.push(blocked),
    back: () => {},
    leaseMs: 10_000,
    renewEveryMs: 3_000,
    everyMs: 600,
    platform,
    failing: () => {},
    working: () => {},
  })
  pulse.start(platform.monotonic())
  return { platform, pulse, lost }
}

test('P5 all timers come at once after a time without a turn of the loop: it stood still', async () => {
  const { platform, pulse, lost } = still(() => Promise.resolve(CALM))
  for (let beat = 0; beat < 10; beat += 1) {
    platform.advance(600)
    await turn()
  }
  expect(lost).toEqual([])
  platform.advance(12_000)
  expect(lost).toEqual([true])
  await pulse.stop()
})

test.each([
  ['refuses', () => Promise.reject(new Error('away'))],
  ['hangs', () => new Promise<Pulse>(() => {})],
])('a database that %s is no standing still', async (_, renew) => {
  const { platform, pulse, lost } = still(renew)
  for (let step = 0; step < 300 && lost.length === 0; step += 1) {
    platform.advance(50)
    await turn()
  }
  expect(lost).toEqual([false])
  const stopped = pulse.stop()
  platform.advance(10_000)
  await stopped
})

test('P2 its lease is over by the clock, also before the timer that says so had its turn', async () => {
  const { platform, pulse } = still(() => Promise.resolve(CALM))
  const isOurs = pulse.term()
  platform.stand(9_999)
  expect([pulse.alive, isOurs()]).toEqual([true, true])
  platform.stand(1)
  expect([pulse.alive, isOurs()]).toEqual([false, false])
  await pulse.stop()
})

test('P2 what was leased to it before it was lost is not its own when it lives again', async () => {
  const { platform, pulse, lost } = still(() => Promise.resolve(CALM))
  const isOurs = pulse.term()
  platform.advance(12_000)
  await turn()
  platform.advance(600)
  await turn()
  expect(lost).toEqual([true])
  expect([pulse.alive, isOurs(), pulse.term()()]).toEqual([true, false, true])
  await pulse.stop()
})
