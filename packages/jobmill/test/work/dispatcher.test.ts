// The dispatcher: claims when there is room and a sign of work, and never after stop.
import { describe, expect, test } from 'vitest'
import type { Lease } from '../../src/store/claim.ts'
import { dispatcherBench, startedBench as started } from './dispatcher-bench.ts'
import { aLease, microtasks } from './leases.ts'

describe('a dispatcher claims', () => {
  test('nothing without a sign of work, however often it is poked', async () => {
    const { platform, dispatcher, claims } = started()
    dispatcher.poke()
    await platform.advance('9s')
    dispatcher.poke()
    await platform.settled()
    expect(claims).toEqual([])
  })

  test('for all queues with room and a sign at once, and not again once it found less than there was room for', async () => {
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

  test('only for the queues that it was woken for', async () => {
    const { platform, dispatcher, claims } = started({ a: 2, b: 3 })
    dispatcher.wake(['b'])
    await platform.settled()
    expect(claims.map(({ queues }) => queues)).toEqual([[{ queue: 'b', room: 3 }]])
  })

  test('again after a claim that brought as much as there was room for, once there is room', async () => {
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

  test('at most 500 at once, and goes on as long as claims are full', async () => {
    const { platform, dispatcher, claims, ready, ran } = started({ a: 700 })
    ready.push(...Array.from({ length: 600 }, () => aLease({ queue: 'a' })))
    dispatcher.wake()
    await platform.settled()
    expect(claims.map(({ limit }) => limit)).toEqual([500, 200])
    expect(ran).toHaveLength(600)
  })

  test('once more when it was woken while a claim was on its way', async () => {
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

  test('nothing while it may not, and goes on by itself when it may again', async () => {
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

  test('and tells when there was nothing although there was a sign', async () => {
    const { platform, dispatcher, troubles } = started()
    dispatcher.wake()
    await platform.settled()
    expect(troubles).toEqual(['working', 'found nothing'])
  })
})

describe('a dispatcher that stops', () => {
  test('begins no claim after the call', async () => {
    const { platform, dispatcher, claims } = started()
    dispatcher.wake()
    await dispatcher.stop()
    dispatcher.wake()
    dispatcher.poke()
    await platform.advance('30s')
    expect(claims).toEqual([])
    expect(platform.pendingTimers).toBe(0)
  })

  test('begins none either when it was just comparing', async () => {
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

  test('hands back what a claim on its way brings, runs none of it, and waits until that is done', async () => {
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

  test('is safe before it was started, and twice', async () => {
    const { dispatcher } = dispatcherBench({ a: 1 })
    await dispatcher.stop()
    const working = started()
    await Promise.all([working.dispatcher.stop(), working.dispatcher.stop()])
    await working.dispatcher.stop()
    expect(working.platform.pendingTimers).toBe(0)
  })
})
