/** Waiting for work in some queues: woken by them, by all, by time or by a signal, and nothing is left behind. */
import { expect, test, vi } from 'vitest'
import { forEverybody, type Rung } from '../../src/store/rung.ts'
import { waiters } from '../../src/store/waiters.ts'
import { fakePlatform } from './support.ts'

function rung(queue: string, jobs: number | null = 1): Rung {
  return { queue, jobs, turn: 7, skip: 0, passes: true }
}

test('a waiter is woken by one of its queues, and by no other', async () => {
  const platform = fakePlatform()
  const room = waiters(platform)
  const woken = vi.fn<(by: readonly Rung[]) => void>()
  const waited = room.wait({ queues: ['a', 'b'], timeoutMs: 1_000 }).then(woken)
  room.wake([rung('c')])
  room.wake([])
  expect(room.size).toBe(1)
  room.wake([rung('c', 3), rung('b', 2)])
  await waited
  expect(woken.mock.calls).toEqual([[[rung('b', 2)]]])
  expect(room.size).toBe(0)
  expect(platform.pending).toEqual([])
})

test('who waits for the same queue is woken together, and others wait on', async () => {
  const room = waiters(fakePlatform())
  const first = room.wait({ queues: ['a'], timeoutMs: 1_000 })
  const second = room.wait({ queues: ['a', 'b'], timeoutMs: 1_000 })
  void room.wait({ queues: ['b'], timeoutMs: 1_000 })
  room.wake([rung('a', 4)])
  expect(await Promise.all([first, second])).toEqual([[rung('a', 4)], [rung('a', 4)]])
  expect(room.size).toBe(1)
})

test('one that waits for several queues hears of all that rang', async () => {
  const room = waiters(fakePlatform())
  const waited = room.wait({ queues: ['a', 'b', 'c'], timeoutMs: 1_000 })
  room.wake([rung('b', null), rung('x'), rung('a', 2)])
  expect(await waited).toEqual([rung('b', null), rung('a', 2)])
})

test('all are woken when the queues are not known, also one that names none', async () => {
  const room = waiters(fakePlatform())
  const waited = [['a'], ['a', 'b'], []].map((queues) => room.wait({ queues, timeoutMs: 1_000 }))
  room.wake('all')
  expect(await Promise.all(waited)).toEqual([[forEverybody('a')], [forEverybody('a'), forEverybody('b')], []])
  expect(room.size).toBe(0)
})

test('a waiter gives up when its time is over', async () => {
  const platform = fakePlatform()
  const room = waiters(platform)
  const waited = room.wait({ queues: ['a'], timeoutMs: 1_000 })
  platform.advance(999)
  expect(room.size).toBe(1)
  platform.advance(1)
  expect(await waited).toEqual([])
  expect(room.size).toBe(0)
})

test('a waiter gives up when its signal fires, and leaves neither a timer nor a listener', async () => {
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
  room.wake([rung('a')])
  stop.abort()
  expect(await waited).toEqual([rung('a')])
  expect(changed.mock.calls).toEqual([[1], [0]])
})

test('a signal that has fired already ends the wait at once, without anybody being told', async () => {
  const platform = fakePlatform()
  const changed = vi.fn<(waiting: number) => void>()
  const room = waiters(platform, changed)
  expect(await room.wait({ queues: ['a'], timeoutMs: 1_000, signal: AbortSignal.abort() })).toEqual([])
  expect(changed).not.toHaveBeenCalled()
  expect(platform.asked).toEqual([])
})

test('the store is told how many wait whenever that changes', async () => {
  const changed = vi.fn<(waiting: number) => void>()
  const room = waiters(fakePlatform(), changed)
  const waited = [room.wait({ queues: ['a'], timeoutMs: 1 }), room.wait({ queues: ['b'], timeoutMs: 1 })]
  room.wake([rung('a')])
  room.wake([rung('b')])
  await Promise.all(waited)
  expect(changed.mock.calls).toEqual([[1], [2], [1], [0]])
})

test('a bell that nobody waits for is not remembered', () => {
  const room = waiters(fakePlatform())
  room.wake([rung('a')])
  void room.wait({ queues: ['a'], timeoutMs: 1 })
  expect(room.size).toBe(1)
})

test('the end of the store ends every wait, with nothing', async () => {
  const platform = fakePlatform()
  const room = waiters(platform)
  const waited = [['a'], []].map((queues) => room.wait({ queues, timeoutMs: 1_000 }))
  room.end()
  expect(await Promise.all(waited)).toEqual([[], []])
  expect([room.size, platform.pending]).toEqual([0, []])
})
