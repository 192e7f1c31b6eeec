/** Caching: a recent answer is reused, and each query has its own. */
import { expect, test } from 'vitest'
import { cache, cacheBy, renewed } from '../../jobmill/src/platform/cache.ts'
import { fakePlatform } from '../../jobmill/test/unit/support.ts'

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

test('D low a slow read that fails does not discard a newer value', async () => {
  const platform = fakePlatform()
  const reads: PromiseWithResolvers<number>[] = []
  const ask = cache(platform, 5_000, () => {
    const read = Promise.withResolvers<number>()
    reads.push(read)
    return read.promise
  })
  const slow = ask()
  platform.stand(5_000)
  const newer = ask()
  reads[1]?.resolve(2)
  expect(await newer).toBe(2)
  reads[0]?.reject(new Error('late'))
  await expect(slow).rejects.toThrow('late')
  expect(await Promise.race([ask(), Promise.resolve('a third read')])).toBe(2)
  expect(reads).toHaveLength(2)
})

test('a renewal is not awaited, unless the last answer is too old', async () => {
  const platform = fakePlatform()
  const reads: PromiseWithResolvers<string>[] = []
  const ask = renewed(platform, { forMs: 15_000, staleMs: 15_000 }, () => {
    const read = Promise.withResolvers<string>()
    reads.push(read)
    return read.promise
  })
  const [first, same] = [ask(), ask()]
  reads[0]?.resolve('one')
  expect(await Promise.all([first, same])).toEqual(['one', 'one'])
  platform.stand(15_000)
  expect(await Promise.all([ask(), ask()])).toEqual(['one', 'one'])
  expect(reads).toHaveLength(2)
  // A renewal that fails is tried again by the next caller, and no caller sees the error.
  reads[1]?.reject(new Error('away'))
  await expect(reads[1]?.promise).rejects.toThrow('away')
  expect(await ask()).toBe('one')
  expect(reads).toHaveLength(3)
  reads[2]?.resolve('two')
  await reads[2]?.promise
  expect(await ask()).toBe('two')
  platform.stand(30_000)
  const late = ask()
  expect(reads).toHaveLength(4)
  reads[3]?.resolve('three')
  expect(await late).toBe('three')
})
