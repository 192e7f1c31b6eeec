// Idle worker offers to other processes, and what happens to the jobs that they dispatch.
import { describe, expect, test } from 'vitest'
import type { HandedOver, Lease, StandBy } from '../../src/store/claim.ts'
import { testPlatform } from '../../src/testing/index.ts'
import { standBy } from '../../src/work/stand-by.ts'
import { aLease } from './leases.ts'

function bench() {
  const platform = testPlatform()
  const offers: StandBy[] = []
  const startedLeases: Lease[] = []
  const released: Lease[] = []
  const state = {
    isIdle: true,
    isLimited: false,
    mayBegin: true,
    isOurs: true,
    isAnybodyThere: true,
    told: 0,
  }
  let bring: ((handed: HandedOver) => void) | undefined
  const standing = standBy({
    instance: 'me',
    store: {
      standBy(offer) {
        if (state.isAnybodyThere) offers.push(offer)
        return state.isAnybodyThere
      },
      receive(_instance, take) {
        bring = take
        return () => (bring = undefined)
      },
    },
    isIdle: () => state.isIdle,
    isLimited: () => state.isLimited,
    mayBegin: () => state.mayBegin,
    term: () => () => state.isOurs,
    take: (leases) => void startedLeases.push(...leases),
    release: (leases) => void released.push(...leases),
    told: () => (state.told += 1),
    platform,
  })
  standing.start()
  return {
    platform,
    standing,
    offers,
    startedLeases,
    released,
    state,
    isListening: () => bring !== undefined,
    bring: (offer: number, lease = aLease()): Lease => (bring?.({ offer, lease }), lease),
  }
}

describe('idle worker offers', () => {
  test('an idle instance offers a worker for the queue and kind of the ended job, and starts the dispatched job', () => {
    const { standing, offers, startedLeases: leases, state, bring } = bench()
    standing.ended({ queue: 'mail', kind: 'send' })
    expect(offers).toEqual([{ instance: 'me', queue: 'mail', kind: 'send', offer: 1 }])
    expect([standing.isOffered, state.told]).toEqual([true, 1])
    const lease = bring(1)
    expect(leases).toEqual([lease])
  })

  test('a busy instance makes no offer, nor for a limited queue, nor without other processes', () => {
    const { standing, offers, state } = bench()
    state.isIdle = false
    standing.ended(aLease())
    state.isIdle = true
    state.isLimited = true
    standing.ended(aLease())
    state.isLimited = false
    state.isAnybodyThere = false
    standing.ended(aLease())
    expect([offers, standing.isOffered, state.told]).toEqual([[], false, 0])
  })

  test.each<[string, (at: ReturnType<typeof bench>) => void]>([
    ['without a free worker for it', ({ state }) => (state.mayBegin = false)],
    ['that arrives after the instance lost its lease', ({ state }) => (state.isOurs = false)],
    ['that arrives after unknown leases were released', ({ standing }) => standing.forget()],
    ['that arrives a second time', ({ bring }) => void bring(1)],
  ])('P2 releases a job %s', (_, meanwhile) => {
    const at = bench()
    at.standing.ended(aLease())
    meanwhile(at)
    const before = at.startedLeases.length
    const lease = at.bring(1)
    expect(at.released).toEqual([lease])
    expect(at.startedLeases).toHaveLength(before)
  })

  test('P2 releases a job that it never offered to take', () => {
    const { startedLeases: leases, released, bring } = bench()
    const lease = bring(7)
    expect([leases, released]).toEqual([[], [lease]])
  })

  test('an unused offer expires after a while, and only the last hundred are kept', async () => {
    const { standing, platform, released, startedLeases: leases, bring } = bench()
    for (let made = 1; made <= 101; made += 1) standing.ended(aLease())
    bring(1)
    bring(2)
    expect([released.length, leases.length]).toEqual([1, 1])
    // Offers expire even if none is left: another process may have used one, and its message was lost.
    standing.forget()
    await platform.advance(15_999)
    expect(standing.isOffered).toBe(true)
    await platform.advance(1)
    expect(standing.isOffered).toBe(false)
  })

  test('end with a stop', () => {
    const { standing, isListening } = bench()
    standing.stop()
    expect(isListening()).toBe(false)
  })
})
