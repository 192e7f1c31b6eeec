/**
 * Which workers a wake-up is for: as many as there are jobs, the same in every process that receives it, and
 * the others after them.
 */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { shareOf, wakeAll, type Candidate, type WakeUp } from '../../src/store/types/wake-up.ts'

function wakeUp(jobs: number, seed: number, skip = 0): WakeUp & { readonly jobs: number } {
  return { queue: 'a', jobs, seed, skip, passes: true }
}

const crowd = fc.uniqueArray(fc.record({ instance: fc.uuid(), workers: fc.integer({ min: 0, max: 5 }) }), {
  selector: ({ instance }) => instance,
  minLength: 1,
  maxLength: 30,
})
const seed = fc.integer({ min: 0, max: 2 ** 31 })

function total(all: readonly Candidate[]): number {
  return all.reduce((sum, { workers }) => sum + workers, 0)
}

test('a notification selects as many workers as there are jobs, or all if there are more jobs', () => {
  fc.assert(
    fc.property(crowd, seed, fc.integer({ min: 1, max: 60 }), (all, which, jobs) => {
      const mine = all.map(({ instance }) => shareOf(wakeUp(jobs, which), all, instance).jobs)
      expect(mine.reduce((sum, n) => sum + n, 0)).toBe(Math.min(jobs, total(all)))
      for (const [n, { workers }] of all.entries()) expect(mine[n]).toBeLessThanOrEqual(workers)
    }),
  )
})

test('all instances compute the same shares, in whatever order they list each other', () => {
  fc.assert(
    fc.property(crowd, seed, fc.integer({ min: 1, max: 60 }), (all, which, jobs) => {
      const known = [all, all.toReversed(), all.toSorted((a, b) => a.workers - b.workers)]
      for (const { instance } of all) {
        const [first, ...others] = known.map((each) => shareOf(wakeUp(jobs, which), each, instance))
        for (const other of others) expect(other).toEqual(first)
      }
    }),
  )
})

test('the order continues after the previous instances until each was selected once', () => {
  fc.assert(
    fc.property(crowd, seed, fc.integer({ min: 1, max: 4 }), (all, which, jobs) => {
      const asked: string[] = []
      let skip: number | null = 0
      for (let round = 0; skip !== null; round += 1) {
        expect(round).toBeLessThanOrEqual(all.length)
        const shares = all.map(({ instance }) => ({
          instance,
          ...shareOf(wakeUp(jobs, which, skip ?? 0), all, instance),
        }))
        asked.push(...shares.filter((one) => one.jobs > 0).map(({ instance }) => instance))
        const skips = new Set(shares.map((one) => one.skip))
        expect(skips.size).toBe(1)
        const [next = null] = skips
        expect(next === null || next > (skip ?? 0)).toBe(true)
        skip = next
      }
      const free = all.filter(({ workers }) => workers > 0).map(({ instance }) => instance)
      expect(asked.toSorted()).toEqual(free.toSorted())
    }),
  )
})

test('an instance that does not serve the queue gets no jobs, and with no candidates none does', () => {
  expect(shareOf(wakeUp(3, 1), [{ instance: 'a', workers: 2 }], 'b')).toEqual({ jobs: 0, skip: null })
  expect(shareOf(wakeUp(3, 1), [], 'b')).toEqual({ jobs: 0, skip: null })
})

test('the last instance in the order can get fewer jobs than it has workers', () => {
  expect(shareOf(wakeUp(2, 1), [{ instance: 'a', workers: 5 }], 'a')).toEqual({ jobs: 2, skip: null })
})

test('over many notifications each instance is first about equally often', () => {
  const all = Array.from({ length: 8 }, (_, n) => ({
    instance: `01a1de30-651e-7249-b059-6ee5d7464bd${n}`,
    workers: 1,
  }))
  const firsts = new Map<string, number>()
  for (let which = 0; which < 4_000; which += 1) {
    const first = all.find(({ instance }) => shareOf(wakeUp(1, which), all, instance).jobs === 1)
    firsts.set(first?.instance ?? '', (firsts.get(first?.instance ?? '') ?? 0) + 1)
  }
  for (const { instance } of all) {
    expect(firsts.get(instance)).toBeGreaterThan(350)
    expect(firsts.get(instance)).toBeLessThan(650)
  }
})

test('a notification without a job count is for every instance', () => {
  expect(wakeAll('a')).toEqual({ queue: 'a', jobs: null, seed: 0, skip: 0, passes: false })
})
