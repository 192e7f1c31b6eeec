/** Sleeping: until the time is over or the signal fires, with nothing left behind. */
import { expect, test, vi } from 'vitest'
import { sleep } from '../../src/platform/sleep.ts'
import { fakePlatform } from './support.ts'

test('sleep ends after its time and not earlier', async () => {
  const platform = fakePlatform()
  const woke = vi.fn<() => void>()
  const slept = sleep(platform, 100).then(woke)
  platform.advance(99)
  expect(platform.pending).toEqual([100])
  await Promise.resolve()
  expect(woke).not.toHaveBeenCalled()
  platform.advance(1)
  await slept
  expect(woke).toHaveBeenCalledOnce()
})

test('a signal ends sleep early, without a rejection or a remaining timer', async () => {
  const platform = fakePlatform()
  const stop = new AbortController()
  const slept = sleep(platform, 100, stop.signal)
  stop.abort(new Error('enough'))
  await expect(slept).resolves.toBeUndefined()
  expect(platform.pending).toEqual([])
})

test('a signal that has already fired skips the sleep', async () => {
  const platform = fakePlatform()
  await expect(sleep(platform, 100, AbortSignal.abort())).resolves.toBeUndefined()
  expect(platform.asked).toEqual([])
})

test('a signal that outlives the sleep has no listener left', async () => {
  const platform = fakePlatform()
  const stop = new AbortController()
  const added = vi.spyOn(stop.signal, 'addEventListener')
  const removed = vi.spyOn(stop.signal, 'removeEventListener')
  const slept = sleep(platform, 100, stop.signal)
  platform.advance(100)
  await slept
  expect(removed.mock.calls[0]?.[1]).toBe(added.mock.calls[0]?.[1])
})
