// Direct dispatch: offers of free workers to jobs that are about to be written.
import { describe, expect, test } from 'vitest'
import { JobmillError } from '../../src/job/errors.ts'
import type { Lease } from '../../src/store/claim.ts'
import { aJob, testPlatform } from '../../src/testing/index.ts'
import { handOffs, type MakeOffer } from '../../src/work/hand-off.ts'
import { aLease } from './leases.ts'

function bench(room: Record<string, number> = { default: 5 }) {
  const platform = testPlatform()
  const calls: string[] = []
  const startedLeases: Lease[] = []
  const released: Lease[] = []
  const reserved = new Map<string, number>()
  const state = { mayTake: true, isOurs: true, free: 1_000, claim: undefined as Promise<unknown> | undefined }
  const make = handOffs({
    instance: '00000000-0000-7000-8000-000000000001',
    kinds: ['work'],
    slots: {
      roomFor: (queue) => (room[queue] ?? 0) - (reserved.get(queue) ?? 0),
      free: () => state.free,
      reserve(rooms) {
        for (const one of rooms) reserved.set(one.queue, one.room)
        return () => reserved.clear()
      },
    },
    mayTake: () => state.mayTake,
    term: () => () => state.isOurs,
    take: (leases) => void startedLeases.push(...leases),
    emptying: () => state.claim,
    release: (leases) => void released.push(...leases),
    unsure: () => void calls.push('unsure'),
    platform,
  })
  /** Makes an offer synchronously, as without a claim in flight. */
  const offer = (jobs: Parameters<MakeOffer>[0]) => {
    const made = make(jobs)
    if (made instanceof Promise) throw new Error('a promise')
    return made
  }
  return { platform, make, offer, calls, startedLeases, released, reserved, state }
}

const job = (overrides: Parameters<typeof aJob>[0] = {}) => aJob({ kind: 'work', ...overrides })
const reply = (lease: Lease) => ({ id: lease.id, outcome: 'enqueued', lease }) as const

describe('an offer for direct dispatch', () => {
  test('covers as many jobs as the call has and the workers can take, by queue', () => {
    const { offer } = bench({ a: 5, b: 1, c: 0 })
    const jobs = [
      job({ queue: 'a' }),
      job({ queue: 'a' }),
      job({ queue: 'b' }),
      job({ queue: 'b' }),
      job({ queue: 'c' }),
    ]
    expect(offer(jobs)?.handOff).toEqual({
      instance: '00000000-0000-7000-8000-000000000001',
      kinds: ['work'],
      queues: [
        { queue: 'a', room: 2 },
        { queue: 'b', room: 1 },
      ],
    })
  })

  test('is at most the free capacity over all queues', () => {
    const { offer, state } = bench({ a: 5, b: 5 })
    state.free = 3
    const jobs = [
      ...Array.from({ length: 2 }, () => job({ queue: 'a' })),
      job({ queue: 'b' }),
      job({ queue: 'b' }),
    ]
    expect(offer(jobs)?.handOff.queues).toEqual([
      { queue: 'a', room: 2 },
      { queue: 'b', room: 1 },
    ])
  })

  test.each([
    ['a kind without a handler here', { kind: 'other' }],
    ['a delay', { delay: '1s' }],
    ['an instant', { runAt: 1 }],
    ['a dedupe key', { dedupe: { key: 'k' } }],
    ['an order key', { orderKey: 'k' }],
  ])('is not made for a job with %s', (_, overrides) => {
    expect(bench().offer([job(overrides)])).toBeUndefined()
  })

  test('is not made while the instance takes no jobs', () => {
    const { offer, state } = bench()
    state.mayTake = false
    expect(offer([job()])).toBeUndefined()
  })

  test('reserves workers until the jobs arrive, one turn after the callers were answered', async () => {
    const { platform, offer, startedLeases: leases, reserved } = bench()
    const made = offer([job()])
    expect(reserved.get('default')).toBe(1)
    const lease = aLease()
    made?.accepted([reply(lease)])
    expect(leases).toEqual([])
    expect(reserved.get('default')).toBe(1)
    await platform.settled()
    expect(leases).toEqual([lease])
    expect(reserved.size).toBe(0)
  })

  test('that was not accepted frees its workers at once', () => {
    const { offer, reserved, calls } = bench()
    offer([job()])?.accepted([{ id: aLease().id, outcome: 'enqueued' }])
    expect(reserved.size).toBe(0)
    offer([job()])?.failed(new JobmillError('STORE_UNAVAILABLE', 'away'))
    expect(reserved.size).toBe(0)
    expect(calls).toEqual([])
  })

  test('with a lost reply makes the instance compare', () => {
    const { offer, calls } = bench()
    offer([job()])?.failed(new JobmillError('OUTCOME_UNKNOWN', 'no answer'))
    expect(calls).toEqual(['unsure'])
  })

  test('with a reply so late that its leases may have been released does not start the jobs', async () => {
    const { platform, offer, startedLeases: leases, released } = bench()
    const made = offer([job()])
    await platform.advance('5s')
    const lease = aLease()
    made?.accepted([reply(lease)])
    await platform.settled()
    expect(leases).toEqual([])
    expect(released).toEqual([lease])
  })

  test('with a reply after the lease of the instance expired does not start the jobs', async () => {
    const { platform, offer, startedLeases: leases, released, state } = bench()
    const made = offer([job()])
    const lease = aLease()
    made?.accepted([reply(lease)])
    state.isOurs = false
    await platform.settled()
    expect(leases).toEqual([])
    expect(released).toEqual([lease])
  })

  test('waits briefly for a claim that will probably empty the queue', async () => {
    const { platform, make, state } = bench()
    const claim = Promise.withResolvers<void>()
    state.claim = claim.promise
    const made = Promise.resolve(make([job()]))
    const calls: string[] = []
    void made.then((offer) => calls.push(offer === undefined ? 'nothing' : 'an offer'))
    await platform.settled()
    expect(calls).toEqual([])
    claim.resolve()
    await platform.settled()
    expect(calls).toEqual(['an offer'])
    expect(platform.pendingTimers).toBe(0)

    state.claim = new Promise(() => {})
    void Promise.resolve(make([job()])).then(() => calls.push('in the end'))
    await platform.advance(20)
    expect(calls).toEqual(['an offer', 'in the end'])
  })
})
