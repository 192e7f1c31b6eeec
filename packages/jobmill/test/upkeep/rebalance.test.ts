// The split of workers: complete, proportional, stable, and written only where it changed.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Slot } from '../../src/store/types/duty.ts'
import { slotChanges, wantedSlots } from '../../src/upkeep/rebalance.ts'

const member = (
  id: string,
  capacity = 10,
  queues: readonly string[] = ['mail'],
  kinds: readonly string[] = ['send'],
) => ({ id, capacity, queues, kinds, state: 'alive', requested: null }) as const

const shares = (slots: readonly Slot[]): Record<string, number> =>
  Object.fromEntries(slots.map(({ instance, workers }) => [instance, workers]))

describe('the split of workers', () => {
  test('of 10 over three is 4, 3 and 3', () => {
    const slots = wantedSlots([{ name: 'mail', workers: 10 }], [member('c'), member('a'), member('b')])
    expect(shares(slots)).toEqual({ a: 4, b: 3, c: 3 })
  })

  test('follows capacity', () => {
    const slots = wantedSlots(
      [{ name: 'mail', workers: 12 }],
      [member('a', 5), member('b', 10), member('c', 45)],
    )
    expect(shares(slots)).toEqual({ a: 1, b: 2, c: 9 })
  })

  test('excludes instances that do not serve the queue or are not alive, and queues without a total', () => {
    const lost = { ...member('c'), state: 'lost' } as const
    const queues = [
      { name: 'mail', workers: 4 },
      { name: 'free', workers: null },
    ]
    expect(shares(wantedSlots(queues, [member('a'), member('b', 10, ['other']), lost]))).toEqual({ a: 4 })
  })

  test('gives no workers to an instance that serves no queue', () => {
    const slots = wantedSlots([{ name: 'mail', workers: 4 }], [member('a'), member('idle', 10, [])])
    expect(shares(slots)).toEqual({ a: 4 })
  })

  test('counts a capacity of 0 as 1', () => {
    expect(shares(wantedSlots([{ name: 'mail', workers: 4 }], [member('a', 0)]))).toEqual({ a: 4 })
  })

  test('gives one worker to the only instance with a handler for a kind, beyond the total if needed', () => {
    const queues = [{ name: 'mail', workers: 1 }]
    const old = member('a', 10, ['mail'], ['old'])
    const fresh = member('b', 10, ['mail'], ['old', 'new'])
    expect(shares(wantedSlots(queues, [old, fresh]))).toEqual({ a: 1, b: 1 })
    expect(shares(wantedSlots(queues, [old, fresh, member('c', 10, ['mail'], ['new'])]))).toEqual({
      a: 1,
      b: 1,
      c: 0,
    })
    expect(shares(wantedSlots(queues, [old, member('d', 10, ['mail'], ['old'])]))).toEqual({ a: 1, d: 0 })
    expect(shares(wantedSlots([{ name: 'mail', workers: 0 }], [old, fresh]))).toEqual({ a: 0, b: 0 })
  })

  test('adds up to the total, differs from the exact share by less than one, and does not depend on the order', () => {
    const members = fc.uniqueArray(fc.record({ id: fc.uuid(), capacity: fc.nat(100) }), {
      selector: ({ id }) => id,
      minLength: 1,
      maxLength: 20,
    })
    fc.assert(
      fc.property(fc.nat(10_000), members, (workers, sizes) => {
        const all = sizes.map(({ id, capacity }) => member(id, capacity))
        const slots = wantedSlots([{ name: 'mail', workers }], all)
        expect(slots.reduce((sum, slot) => sum + slot.workers, 0)).toBe(workers)
        const weight = all.reduce((sum, { capacity }) => sum + Math.max(1, capacity), 0)
        for (const slot of slots) {
          const own = Math.max(1, all.find(({ id }) => id === slot.instance)?.capacity ?? 0)
          expect(Math.abs(slot.workers - (workers * own) / weight)).toBeLessThan(1)
        }
        expect(shares(wantedSlots([{ name: 'mail', workers }], all.toReversed()))).toEqual(shares(slots))
      }),
    )
  })
})

const slot = (instance: string, workers: number): Slot => ({ instance, workers, queue: 'mail' })

describe('the changes of a split', () => {
  test('include only differences, and remove unwanted shares', () => {
    const known = [slot('a', 4), slot('b', 3), slot('gone', 3)]
    const wanted = [slot('a', 4), slot('b', 5), slot('c', 1)]
    expect(slotChanges(wanted, known)).toEqual([
      slot('b', 5),
      slot('c', 1),
      { instance: 'gone', queue: 'mail', workers: null },
    ])
    expect(slotChanges(wanted, wanted)).toEqual([])
  })
})
