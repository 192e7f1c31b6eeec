/**
 * Waiting for work in some queues: woken by them, by all, by time or by a signal, and nothing is left behind.
 */
import { expect, test, vi } from 'vitest'
import { wakeAll, type WakeUp } from '../../src/store/types/wake-up.ts'
import { waiters } from '../../src/store/waiters.ts'
import { fakePlatform } from './support.ts'

function wakeUp(queue: string, jobs: number | null = 1): WakeUp {
  return { queue, jobs, seed: 7, skip: 0, passes: true }
}

test('a notification wakes the waiters of its queue and no others', async () => {
  const platform = fakePlatform()
  const room = waiters(platform)
  const onWake = vi.fn<(by: readonly WakeUp[]) => void>()
  const waited = room.wait({ queues: ['a', 'b'], timeoutMs: 1_000 }).then(onWake)
  room.wake([wakeUp('c')])
  room.wake([])
  expect(room.size).toBe(1)
  room.wake([wakeUp('c', 3), wakeUp('b', 2)])
  await waited
  expect(onWake.mock.calls).toEqual([[[wakeUp('b', 2)]]])
  expect(room.size).toBe(0)
  expect(platform.pending).toEqual([])
})

test('a notification wakes all waiters of its queue together, and others keep waiting', async () => {
  const room = waiters(fakePlatform())
  const first = room.wait({ queues: ['a'], timeoutMs: 1_000 })
  const second = room.wait({ queues: ['a', 'b'], timeoutMs: 1_000 })
  void room.wait({ queues: ['b'], timeoutMs: 1_000 })
  room.wake([wakeUp('a', 4)])
  expect(await Promise.all([first, second])).toEqual([[wakeUp('a', 4)], [wakeUp('a', 4)]])
  expect(room.size).toBe(1)
})

test('a waiter for several queues receives all that were notified', async () => {
  const room = waiters(fakePlatform())
  const waited = room.wait({ queues: ['a', 'b', 'c'], timeoutMs: 1_000 })
  room.wake([wakeUp('b', null), wakeUp('x'), wakeUp('a', 2)])
  expect(await waited).toEqual([wakeUp('b', null), wakeUp('a', 2)])
})

test('a notification without queues wakes all waiters, even one that names no queue', async () => {
  const room = waiters(fakePlatform())
  const waited = [['a'], ['a', 'b'], []].map((queues) => room.wait({ queues, timeoutMs: 1_000 }))
  room.wake('all')
  expect(await Promise.all(waited)).toEqual([[wakeAll('a')], [wakeAll('a'), wakeAll('b')], []])
  expect(room.size).toBe(0)
})

test('a waiter stops at its timeout', async () => {
  const platform = fakePlatform()
  const room = waiters(platform)
  const waited = room.wait({ queues: ['a'], timeoutMs: 1_000 })
  platform.advance(999)
  expect(room.size).toBe(1)
  platform.advance(1)
  expect(await waited).toEqual([])
  expect(room.size).toBe(0)
})

test('a waiter stops when its signal fires, and leaves neither a timer nor a listener', async () => {
  const platform = fakePlatform()
  const room = waiters(platform)
  const stop = new AbortController()
  const removed = vi.spyOn(stop.signal, 'removeEventListener')
  const waited = room.wait({ queues: ['a'], timeoutMs: 1_000, signal: stop.signal })
  stop.abort()
  expect(await waited).toEqual([])
  expect(room.size).toBe(0)
  expect(platform.pending).toEqual([])
  expect(removed).toHaveBeenCalledOnce()
})

test('a signal that fires after the wake-up changes nothing', async () => {
  const changed = vi.fn<(waiting: number) => void>()
  const room = waiters(fakePlatform(), changed)
  const stop = new AbortController()
  const waited = room.wait({ queues: ['a'], timeoutMs: 1_000, signal: stop.signal })
  room.wake([wakeUp('a')])
  stop.abort()
  expect(await waited).toEqual([wakeUp('a')])
  expect(changed.mock.calls).toEqual([[1], [0]])
})

test('a signal that has already fired ends the wait at once, without a call to the store', async () => {
  const platform = fakePlatform()
  const changed = vi.fn<(waiting: number) => void>()
  const room = waiters(platform, changed)
  expect(await room.wait({ queues: ['a'], timeoutMs: 1_000, signal: AbortSignal.abort() })).toEqual([])
  expect(changed).not.toHaveBeenCalled()
  expect(platform.asked).toEqual([])
})

test('the store is notified of each change in the number of waiters', async () => {
  const changed = vi.fn<(waiting: number) => void>()
  const room = waiters(fakePlatform(), changed)
  const waited = [room.wait({ queues: ['a'], timeoutMs: 1 }), room.wait({ queues: ['b'], timeoutMs: 1 })]
  room.wake([wakeUp('a')])
  room.wake([wakeUp('b')])
  await Promise.all(waited)
  expect(changed.mock.calls).toEqual([[1], [2], [1], [0]])
})

test('a notification without a waiter is not stored', () => {
  const room = waiters(fakePlatform())
  room.wake([wakeUp('a')])
  void room.wait({ queues: ['a'], timeoutMs: 1 })
  expect(room.size).toBe(1)
})

test('closing the store ends every wait, without queues', async () => {
  const platform = fakePlatform()
  const room = waiters(platform)
  const waited = [['a'], []].map((queues) => room.wait({ queues, timeoutMs: 1_000 }))
  room.end()
  expect(await Promise.all(waited)).toEqual([[], []])
  expect([room.size, platform.pending]).toEqual([0, []])
})
