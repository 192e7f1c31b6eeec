// The dispatcher: claims after a wake-up when there is room, and never after stop.
import { describe, expect, test } from 'vitest'
import type { Lease } from '../../src/store/claim.ts'
import { dispatcherBench, startedBench as started } from './dispatcher-bench.ts'
import { aLease, microtasks } from './leases.ts'

describe('a dispatcher claims', () => {
  test('nothing without a wake-up, however often it is poked', async () => {
    const { platform, dispatcher, claims } = started()
    dispatcher.poke()
    await platform.advance('9s')
    dispatcher.poke()
    await platform.settled()
    expect(claims).toEqual([])
  })

  test('all woken queues with room at once, and not again after a claim that left room', async () => {
    const { platform, dispatcher, claims, ready, ran } = started({ a: 2, b: 3, c: 0 })
    ready.push(aLease({ queue: 'a' }), aLease({ queue: 'b' }))
    dispatcher.wake()
    await platform.settled()
    expect(claims).toEqual([
      {
        queues: [
          { queue: 'a', room: 2 },
          { queue: 'b', room: 3 },
        ],
        limit: 5,
        quarantined: 'skip',
      },
    ])
    expect(ran).toHaveLength(2)
  })

  test('only from the queues of the wake-up', async () => {
    const { platform, dispatcher, claims } = started({ a: 2, b: 3 })
    dispatcher.wake(['b'])
    await platform.settled()
    expect(claims.map(({ queues }) => queues)).toEqual([[{ queue: 'b', room: 3 }]])
  })

  test('again after a full claim, once there is room', async () => {
    const { platform, dispatcher, claims, ready, ran, end } = started({ a: 2 })
    ready.push(...Array.from({ length: 3 }, () => aLease({ queue: 'a' })))
    dispatcher.wake()
    await platform.settled()
    expect(ran).toHaveLength(2)
    end(ran[0])
    dispatcher.poke()
    await platform.settled()
    expect(claims.map(({ queues }) => queues)).toEqual([[{ queue: 'a', room: 2 }], [{ queue: 'a', room: 1 }]])
    expect(ran).toHaveLength(3)
  })

  test('at most 500 jobs at once, and continues while claims are full', async () => {
    const { platform, dispatcher, claims, ready, ran } = started({ a: 700 })
    ready.push(...Array.from({ length: 600 }, () => aLease({ queue: 'a' })))
    dispatcher.wake()
    await platform.settled()
    expect(claims.map(({ limit }) => limit)).toEqual([500, 200])
    expect(ran).toHaveLength(600)
  })

  test('once more after a wake-up during a claim', async () => {
    const { platform, dispatcher, claims, state } = started()
    const answer = Promise.withResolvers<Lease[]>()
    state.answer = () => answer.promise
    dispatcher.wake()
    await platform.settled()
    dispatcher.wake(['a'])
    await platform.settled()
    expect(claims).toHaveLength(1)
    answer.resolve([])
    await platform.settled()
    expect(claims).toHaveLength(2)
  })

  test('nothing while claims are not allowed, and continues when they are', async () => {
    const { platform, dispatcher, claims, state } = started()
    state.mayClaim = false
    dispatcher.wake()
    await platform.advance('9s')
    expect(claims).toEqual([])
    state.mayClaim = true
    dispatcher.poke()
    await platform.settled()
    expect(claims).toHaveLength(1)
  })

  test('and reports an empty claim after a wake-up', async () => {
    const { platform, dispatcher, troubles } = started()
    dispatcher.wake()
    await platform.settled()
    expect(troubles).toEqual(['working', 'found nothing'])
  })
})

describe('a dispatcher that stops', () => {
  test('starts no claim after the call', async () => {
    const { platform, dispatcher, claims } = started()
    dispatcher.wake()
    await dispatcher.stop()
    dispatcher.wake()
    dispatcher.poke()
    await platform.advance('30s')
    expect(claims).toEqual([])
    expect(platform.pendingTimers).toBe(0)
  })

  test('starts no claim after a comparison in flight', async () => {
    const { platform, dispatcher, claims, comparedAt, state } = started()
    const compared = Promise.withResolvers<null>()
    state.compare = () => compared.promise
    await platform.advance('60s')
    expect(comparedAt).toHaveLength(1)
    dispatcher.wake()
    const stopping = dispatcher.stop()
    compared.resolve(null)
    await stopping
    expect(claims).toEqual([])
  })

  test('releases the jobs of a claim in flight, runs none of them, and waits for the release', async () => {
    const { platform, dispatcher, claims, released, ran, state } = started()
    const answer = Promise.withResolvers<Lease[]>()
    const handedBack = Promise.withResolvers<void>()
    state.answer = () => answer.promise
    state.release = () => handedBack.promise
    dispatcher.wake()
    await platform.settled()
    let stopped = false
    const stopping = dispatcher.stop().then(() => (stopped = true))
    const leases = [aLease({ queue: 'a' }), aLease({ queue: 'a' })]
    answer.resolve(leases)
    await microtasks(20)
    expect(released).toEqual(leases)
    expect(stopped).toBe(false)
    handedBack.resolve()
    await stopping
    expect([claims.length, ran.length]).toEqual([1, 0])
  })

  test('can stop before its start, and twice', async () => {
    const { dispatcher } = dispatcherBench({ a: 1 })
    await dispatcher.stop()
    const working = started()
    await Promise.all([working.dispatcher.stop(), working.dispatcher.stop()])
    await working.dispatcher.stop()
    expect(working.platform.pendingTimers).toBe(0)
  })
})
