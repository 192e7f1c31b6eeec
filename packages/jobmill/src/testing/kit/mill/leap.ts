/**
 * Moves the clock over a long time in which no job is due, without the heartbeats in between: an hour has
 * 5,600 of them, each with a statement.
 */
import type { AtWork } from './at-work.ts'
import type { LeapingMill } from './leaping-mill.ts'
import { leapOf, type TestPlatform } from '../test-platform.ts'

interface LeapTools {
  readonly platform: TestPlatform
  readonly atWork: AtWork
}

/** Shorter times are moved with their heartbeats. */
export const LEAST_LEAP_MS = 60_000

/** Until the first heartbeat after a leap, which fires at once. */
const SPARE_MS = 60_000

/**
 * Leaps to the next instant at which something is due, but not past `until`. Returns false if work is in
 * progress, or if that instant is near.
 */
export async function leap({ platform, atWork }: LeapTools, until: number): Promise<boolean> {
  const clock = leapOf(platform)
  const mills = [...atWork.mills]
  if (clock === undefined || atWork.size > 0) return false
  const nexts = await Promise.all(mills.map((mill) => mill.nextMs()))
  const times = nexts.map((ms) => (ms === undefined ? 0 : ms) + platform.now())
  const at = Math.min(until, clock.nextFixedAt, ...times)
  const ms = at - platform.now()
  if (ms < LEAST_LEAP_MS || !(await areAlone(mills))) return false
  for (const mill of mills) await extendLease(mill, ms + SPARE_MS)
  clock.to(at)
  return true
}

/** The lease of an instance that is not a test mill would expire. So would that of one that is lost. */
async function areAlone(mills: readonly LeapingMill[]): Promise<boolean> {
  const known = mills.map(({ id }) => id())
  const lists = await Promise.all(mills.map(({ store }) => store.instances.list()))
  return lists.every((list, n) => {
    const live = list.flatMap(({ id, state }) => (state === 'alive' ? id : []))
    return live.includes(known[n] ?? '') && live.every((id) => known.includes(id))
  })
}

/** The next heartbeat renews it for the usual time. */
async function extendLease({ id, store }: LeapingMill, leaseMs: number): Promise<void> {
  await store.instances.renew({
    instance: id(),
    leaseMs,
    renewEveryMs: 0,
    queues: [],
    kinds: [],
    duties: [],
  })
}
