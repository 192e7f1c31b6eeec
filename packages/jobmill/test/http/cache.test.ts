/** Caching: a recent answer is reused, and each query has its own. */
import { expect, test } from 'vitest'
import { cacheBy } from '../../src/platform/cache.ts'
import { fakePlatform } from '../unit/support.ts'

test('a query runs once per period, again after a failure, and the oldest of many is evicted', async () => {
  const platform = fakePlatform()
  const asked: number[] = []
  const ask = cacheBy(platform, 5_000, async ({ n }: { n: number }) => {
    const times = asked.push(n)
    await Promise.resolve()
    if (n < 0) throw new Error('no')
    return times
  })
  expect(await Promise.all([ask({ n: 1 }), ask({ n: 1 }), ask({ n: 2 })])).toEqual([1, 1, 2])
  platform.stand(4_999)
  expect(await ask({ n: 1 })).toBe(1)
  platform.stand(1)
  expect(await ask({ n: 1 })).toBe(3)
  await expect(ask({ n: -1 })).rejects.toThrow('no')
  await expect(ask({ n: -1 })).rejects.toThrow('no')
  expect(asked).toEqual([1, 2, 1, -1, -1])
  for (let n = 100; n < 150; n += 1) await ask({ n })
  asked.length = 0
  await ask({ n: 149 })
  await ask({ n: 1 })
  expect(asked).toEqual([1])
})
