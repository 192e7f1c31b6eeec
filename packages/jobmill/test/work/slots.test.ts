// Room for claims: free workers, prefetch, and claims in flight.
import { describe, expect, test } from 'vitest'
import { slots as create } from '../../src/work/slots.ts'

const sum = (of: Record<string, number>): number => Object.values(of).reduce((all, one) => all + one, 0)

function bench(workers: Record<string, number>, capacity: number | null = null) {
  const running: Record<string, number> = {}
  const waiting: Record<string, number> = {}
  const most: Record<string, number> = {}
  const slots = create({
    workers: () => new Map(Object.entries(workers)),
    attempts: { running: (queue) => (queue === undefined ? sum(running) : (running[queue] ?? 0)) },
    ahead: () => ({
      count: (queue) => (queue === undefined ? sum(waiting) : (waiting[queue] ?? 0)),
      most: (queue) => most[queue] ?? 0,
    }),
    capacity,
  })
  return { slots, running, waiting, most }
}

describe('room', () => {
  test('is the free workers of each queue', () => {
    const { slots, running } = bench({ a: 2, b: 3, c: 0 })
    running['a'] = 2
    running['b'] = 1
    expect(slots.room()).toEqual([{ queue: 'b', room: 2 }])
  })

  test('includes the jobs that may be prefetched', () => {
    const { slots, running, most } = bench({ a: 2 })
    running['a'] = 2
    most['a'] = 100
    expect(slots.room()).toEqual([{ queue: 'a', room: 100 }])
  })

  test('does not justify a claim while half of the prefetch buffer is full', () => {
    const { slots, running, waiting, most } = bench({ a: 2 })
    running['a'] = 2
    most['a'] = 100
    waiting['a'] = 51
    expect(slots.isWorthIt('a')).toBe(false)
    expect(slots.room()).toEqual([])
    expect(slots.roomFor('a')).toBe(49)
    waiting['a'] = 50
    expect(slots.room()).toEqual([{ queue: 'a', room: 50 }])
  })

  test('excludes workers that a write in flight may use, until it ends', () => {
    const { slots } = bench({ a: 5 })
    const release = slots.reserve([{ queue: 'a', room: 3 }])
    expect([slots.roomFor('a'), slots.reserved]).toEqual([2, 3])
    release()
    release()
    expect([slots.roomFor('a'), slots.reserved]).toEqual([5, 0])
  })

  test('is empty if the capacity is used up, even if a queue has free workers', () => {
    const { slots, running } = bench({ a: 5, b: 5 }, 4)
    running['a'] = 4
    expect(slots.room()).toEqual([])
  })

  test('is bounded by the capacity over all queues', () => {
    const { slots, running, most } = bench({ a: 5, b: 5 }, 6)
    running['a'] = 4
    expect(slots.free()).toBe(2)
    expect(slots.isScarce).toBe(true)
    expect(slots.room()).toEqual([
      { queue: 'a', room: 1 },
      { queue: 'b', room: 2 },
    ])
    most['b'] = 10
    expect(slots.free()).toBe(12)
    expect(slots.total()).toBe(6)
  })
})
