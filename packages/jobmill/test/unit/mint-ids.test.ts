/** Ids: what they look like, and that they rise whatever the clock does. */
import { describe, expect, test } from 'vitest'
import { UUID } from '../../src/job/names.ts'
import { mintIds } from '../../src/platform/mint-ids.ts'

/** A clock that the test sets, and ids by it. */
function bench(startAt: number) {
  const clock = { ms: startAt }
  const mint = mintIds(() => clock.ms)
  const many = (count: number): string[] => Array.from({ length: count }, () => mint())
  return { clock, many }
}

const timeOf = (id: string | undefined): number =>
  Number.parseInt(id?.replace('-', '').slice(0, 12) ?? '', 16)

describe('minted ids', () => {
  test.each([0, 1, 65_535, 65_536, 1_767_225_600_000, 2 ** 48 - 1])(
    'are UUIDs of version 7 that start with the time: %i',
    (ms) => {
      for (const id of bench(ms).many(1_000)) {
        expect(id).toMatch(UUID)
        expect(id).toMatch(/^.{14}7.{4}[89ab]/)
        expect(timeOf(id)).toBe(ms)
      }
    },
  )

  test('rise within a millisecond and across milliseconds, without duplicates', () => {
    const { clock, many } = bench(1_000_000)
    const ids = Array.from({ length: 20 }, () => {
      clock.ms += 1
      return many(5_000)
    }).flat()
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toEqual(ids.toSorted())
  })

  test('of two generators differ at the same time', () => {
    const [one, other] = [bench(1_000_000).many(5_000), bench(1_000_000).many(5_000)]
    expect(new Set([...one, ...other]).size).toBe(10_000)
  })

  test('keep rising if the clock goes back a little, and follow it if it goes back further', () => {
    const { clock, many } = bench(1_000_000)
    const before = many(100)
    clock.ms -= 10_000
    const after = many(100)
    expect([...before, ...after]).toEqual([...before, ...after].toSorted())
    expect(timeOf(after.at(-1))).toBe(1_000_000)
    clock.ms -= 1
    expect(timeOf(many(1)[0])).toBe(989_999)
  })

  test('differ randomly, not only by a counter', () => {
    const ends = bench(1_000_000)
      .many(1_000)
      .map((id) => id.slice(28))
    expect(new Set(ends).size).toBeGreaterThan(990)
    expect(ends).not.toEqual(ends.toSorted())
  })
})
