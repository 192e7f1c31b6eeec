/** Rounds: items with the same key run one after the other, all others concurrently. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { inRounds } from '../../src/store/batch/rounds.ts'

const first = (item: string): string => item.charAt(0)

test('puts items with different keys into one round, in order', () => {
  expect(inRounds(['b', 'a', 'c'], first)).toEqual([['b', 'a', 'c']])
})

test('puts each repetition of a key one round later', () => {
  expect(inRounds(['a1', 'b1', 'a2', 'a3', 'b2', 'c1'], first)).toEqual([
    ['a1', 'b1', 'c1'],
    ['a2', 'b2'],
    ['a3'],
  ])
})

test('makes no rounds of no items', () => {
  expect(inRounds([], first)).toEqual([])
})

test('for any items, loses none, puts no key twice into a round, and keeps the order of each key', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', 'b', 'c', 'd')), (keys) => {
      const items = keys.map((key, at) => ({ key, at }))
      const rounds = inRounds(items, ({ key }) => key)
      for (const round of rounds) expect(new Set(round.map(({ key }) => key)).size).toBe(round.length)
      const sent = rounds.flat()
      expect(sent.toSorted((a, b) => a.at - b.at)).toEqual(items)
      for (const key of ['a', 'b', 'c', 'd']) {
        expect(sent.filter((item) => item.key === key)).toEqual(items.filter((item) => item.key === key))
      }
    }),
  )
})
