// Prefetched leases: they start in order, and are released when they cannot start soon.
import { describe, expect, test } from 'vitest'
import type { Lease } from '../../src/store/claim.ts'
import { testPlatform } from '../../src/testing/index.ts'
import { ahead as create, MOST_AHEAD } from '../../src/work/ahead.ts'
import { paces as createPaces } from '../../src/work/paces.ts'
import { aLease } from './leases.ts'

function bench(workers: Record<string, number> = { default: 2 }, platform = testPlatform()) {
  const running: Lease[] = []
  const released: Lease[] = []
  const kept = new Set<string>()
  const paces = createPaces()
  const ahead = create({
    run: (lease, waitedMs) => void running.push({ ...lease, waitedMs }),
    release: (leases) => void released.push(...leases),
    workers: (queue) => workers[queue] ?? 0,
    idle: (queue) => (workers[queue] ?? 0) - running.filter((lease) => lease.queue === queue).length,
    mayWait: (queue) => !kept.has(queue),
    paces,
    platform,
  })
  const end = (): void => {
    running.shift()
    ahead.begin()
  }
  return { platform, ahead, paces, running, released, kept, workers, end }
}

const some = (count: number, overrides: Partial<Lease> = {}): Lease[] =>
  Array.from({ length: count }, () => aLease(overrides))
const ids = (leases: readonly Lease[]): string[] => leases.map(({ id }) => id)

describe('prefetched leases', () => {
  test('start on free workers, and the others in order as workers become free', () => {
    const { ahead, running, end } = bench()
    const leases = some(4)
    ahead.take(leases)
    expect(ids(running)).toEqual(ids(leases.slice(0, 2)))
    expect(ahead.count()).toBe(2)
    expect(ids(ahead.leases())).toEqual(ids(leases.slice(2)))
    end()
    expect(ids(running)).toEqual(ids(leases.slice(1, 3)))
    end()
    expect(ahead.count('default')).toBe(0)
    expect(ids(running)).toEqual(ids(leases.slice(2)))
  })

  test('with a better priority start first, even if they came later', () => {
    const { ahead, running, end } = bench({ default: 1 })
    const [first, usual, urgent] = [aLease(), aLease(), aLease({ priority: -5 })]
    ahead.take([first, usual])
    ahead.take([urgent])
    end()
    expect(ids(running)).toEqual([urgent.id])
  })

  test('count the time in the prefetch buffer as waiting time', async () => {
    const { platform, ahead, running, end } = bench({ default: 1 })
    ahead.take([aLease(), aLease({ waitedMs: 7 })])
    await platform.advance(100)
    end()
    expect(running[0]?.waitedMs).toBe(107)
  })

  test('are released after 250 ms, and nothing is prefetched until another job ends', async () => {
    const { platform, ahead, paces, released } = bench()
    paces.ran('default', 1)
    const leases = some(5)
    ahead.take(leases)
    await platform.advance(200)
    const later = some(1)
    ahead.take(later)
    expect(released).toEqual([])
    expect(ahead.most('default')).toBeGreaterThan(0)
    await platform.advance(60)
    expect(ids(released)).toEqual(ids(leases.slice(2)))
    expect(ids(ahead.leases())).toEqual(ids(later))
    expect(ahead.most('default')).toBe(0)
    await platform.advance(200)
    expect(ids(released)).toEqual(ids([...leases.slice(2), ...later]))
    paces.ran('default', 1)
    expect(ahead.most('default')).toBeGreaterThan(0)
  })

  test('are released instead of started if the process was paused, and its timers with it', async () => {
    const platform = testPlatform()
    const still = { ...platform, timer: () => ({ cancel() {} }) }
    const { ahead, running, released, end } = bench({ default: 1 }, still)
    const leases = some(2)
    ahead.take(leases)
    await platform.advance('20s')
    end()
    expect(running).toEqual([])
    expect(ids(released)).toEqual(ids(leases.slice(1)))
  })

  test('are released if their queue has fewer workers now, and only then', () => {
    const { ahead, workers, released } = bench({ a: 1, b: 1 })
    ahead.take([...some(3, { queue: 'a' }), ...some(3, { queue: 'b' })])
    ahead.review()
    expect(released).toEqual([])
    workers['a'] = 0
    ahead.review()
    expect(released.map(({ queue }) => queue)).toEqual(['a', 'a'])
    expect(ahead.count()).toBe(2)
  })

  test('start when their queue gets more workers', () => {
    const { ahead, workers, running } = bench({ default: 1 })
    ahead.take(some(3))
    workers['default'] = 3
    ahead.review()
    expect(running).toHaveLength(3)
  })

  test('are released one at a time to cancel a job', () => {
    const { ahead, released } = bench({ default: 0 })
    const leases = some(3)
    ahead.take(leases)
    ahead.giveBack(leases[1]?.id ?? '')
    expect(ids(released)).toEqual([leases[1]?.id])
    expect(ahead.count()).toBe(2)
  })

  test('are dropped, not released, when the instance is lost', async () => {
    const { platform, ahead, released, running, end } = bench({ default: 1 })
    ahead.take(some(3))
    ahead.lost()
    await platform.advance('1s')
    end()
    expect([released.length, running.length, ahead.count()]).toEqual([0, 0, 0])
  })

  test('are released at a stop, and so are those that arrive later', () => {
    const { ahead, released, end, running } = bench({ default: 1 })
    const [running0, waiting, late] = some(3)
    ahead.take([running0, waiting].filter((lease) => lease !== undefined))
    ahead.stop()
    ahead.take(late === undefined ? [] : [late])
    end()
    expect(ids(released)).toEqual([waiting?.id, late?.id])
    expect(running).toEqual([])
  })
})

describe('the size of the prefetch buffer', () => {
  test('is the number of jobs that start within 100 ms by the measured run times, and 0 without any', () => {
    const { ahead, paces } = bench({ default: 10 })
    expect(ahead.most('default')).toBe(0)
    paces.ran('default', 10)
    expect(ahead.most('default')).toBe(100)
  })

  test('is at most 1,000 over all queues', () => {
    const { ahead, paces } = bench({ a: 0, b: 1_000 })
    paces.ran('b', 0)
    expect(ahead.most('b')).toBe(MOST_AHEAD)
    ahead.take(some(100, { queue: 'a' }))
    expect(ahead.most('b')).toBe(MOST_AHEAD - 100)
  })

  test('is smaller for large payloads: 8 MiB in total', () => {
    const { ahead, paces } = bench({ default: 1_000 })
    ahead.take([aLease({ payload: 'x'.repeat(1024 * 1024) })])
    paces.ran('default', 1)
    expect(ahead.most('default')).toBe(8)
  })

  test('is 0 for a queue that must not prefetch', () => {
    const { ahead, paces, kept } = bench()
    paces.ran('default', 1)
    kept.add('default')
    expect(ahead.most('default')).toBe(0)
  })

  test('shrinks at once after a slow job, and grows slowly after fast ones', () => {
    const { ahead, paces } = bench({ default: 10 })
    paces.ran('default', 2)
    paces.ran('default', 1_000)
    const afterSlow = ahead.most('default')
    expect(afterSlow).toBeLessThan(5)
    paces.ran('default', 2)
    expect(ahead.most('default')).toBeLessThan(5)
    for (let at = 0; at < 100; at += 1) paces.ran('default', 2)
    expect(ahead.most('default')).toBeGreaterThan(300)
  })
})
