/** Which waiter gets a free item, in which order, and how a wait ends. */
import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { FreeList } from '../../../src/work/handlers/free-list.ts'
import { failure } from './context.ts'

const patient = (): AbortSignal => new AbortController().signal

test('a free item is taken once', async () => {
  const list = new FreeList<string>()
  list.offer('a')
  list.offer('b')
  expect(await list.take(patient())).toBe('a')
  expect(await list.take(patient())).toBe('b')
  const third = list.take(patient())
  list.offer('c')
  expect(await third).toBe('c')
})

test('waiters are served in order', async () => {
  const list = new FreeList<string>()
  const served = Promise.all([list.take(patient()), list.take(patient()), list.take(patient())])
  for (const item of ['first', 'second', 'third']) list.offer(item)
  expect(await served).toEqual(['first', 'second', 'third'])
})

test('a signal ends the wait with its reason, and the next item goes to the next waiter', async () => {
  const list = new FreeList<string>()
  const controller = new AbortController()
  const impatient = failure(list.take(controller.signal))
  const next = list.take(patient())
  const reason = new Error('enough')
  controller.abort(reason)
  expect(await impatient).toBe(reason)
  list.offer('a')
  expect(await next).toBe('a')
})

test('a signal that has already fired takes nothing', async () => {
  const list = new FreeList<string>()
  list.offer('a')
  const reason = new Error('enough')
  expect(await failure(list.take(AbortSignal.abort(reason)))).toBe(reason)
  expect(await list.take(patient())).toBe('a')
})

test('a removed item is not taken, and refuseAll refuses all waiters', async () => {
  const list = new FreeList<string>()
  list.offer('a')
  list.remove('a')
  const waiting = [failure(list.take(patient())), failure(list.take(patient()))]
  const refusal = new Error('closed')
  list.refuseAll(refusal)
  expect(await Promise.all(waiting)).toEqual([refusal, refusal])
  list.offer('b')
  expect(await list.take(patient())).toBe('b')
})

test('no listener stays on the signal, however the wait ends', async () => {
  const list = new FreeList<string>()
  const controllers = Array.from({ length: 3 }, () => new AbortController())
  const waits = controllers.map(({ signal }) => list.take(signal).catch(() => 'refused'))
  list.offer('a')
  controllers[1]?.abort(new Error('enough'))
  list.refuseAll(new Error('closed'))
  expect(await Promise.all(waits)).toEqual(['a', 'refused', 'refused'])
  expect(controllers.map(({ signal }) => getEventListeners(signal, 'abort').length)).toEqual([0, 0, 0])
})
