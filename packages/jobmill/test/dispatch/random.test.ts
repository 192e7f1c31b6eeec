// The reducer under random events: the rules that hold in every history.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { DispatchEffect, DispatchEvent } from '../../src/dispatch/events.ts'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { aJob } from '../../../conformance/src/factories.ts'
import type { Lease } from '../../src/store/types/claim.ts'
import { aLease } from '../work/leases.ts'
import { settingsChanged, testDispatch, TICK } from './support.ts'

const QUEUES = ['a', 'b', 'c'] as const

/** What the world around the reducer does next. */
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('reply' as const),
      // Not `fc.double`, which prefers values near 0: most replies would be empty.
      share: fc.constantFrom(0, 0.3, 0.5, 1),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('end' as const), at: fc.nat(20) }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('ready' as const), queue: fc.constantFrom(...QUEUES) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 3_000 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('enqueue' as const), queue: fc.constantFrom(...QUEUES) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('dispatch' as const), isUsed: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fail' as const), isUnknown: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('heartbeat' as const), quarantined: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('workers' as const),
      counts: fc.tuple(fc.nat(4), fc.nat(4), fc.nat(4)),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('remoteDispatch' as const), queue: fc.constantFrom(...QUEUES) }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

test('P2 in every history a lease starts once or is released once, one statement is in flight, and none is forgotten', () => {
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 120, size: 'max' }),
      fc.option(fc.integer({ min: 1, max: 6 }), { nil: null }),
      (steps, capacity) => {
        const world = new World(capacity)
        for (const one of steps) world.take(one)
        world.finish()
        expect(world.leftOver()).toEqual([])
      },
    ),
    { numRuns: inFull(5_000, 300) },
  )
})

/** A store and workers that do what the effects say. */
class World {
  now = 1
  readonly dispatch
  readonly running: Lease[] = []
  /** Leases that were handed to the reducer, and what became of them. */
  readonly fate = new Map<Lease, 'held' | 'running' | 'ended' | 'released' | 'lost'>()
  readonly writes: { offer: number; queue: string }[] = []
  workers: Record<string, number> = { a: 2, b: 3, c: 1 }
  claim: Extract<DispatchEffect, { type: 'claim' }>['request'] | null = null
  isComparing = false
  isAlive = true
  sleepsUntil = Infinity
  offers = 0
  offerWorker = 0

  constructor(capacity: number | null) {
    this.dispatch = testDispatch({ workers: this.workers, capacity })
  }

  send(event: DispatchEvent): void {
    for (const effect of this.dispatch.at(this.now, event)) this.perform(effect)
    const { reserved, running, unwritten } = this.dispatch.state
    assert.ok(
      Math.min(
        reserved.total,
        running.total,
        unwritten,
        ...[...reserved.byQueue.values()].map((one) => one.count),
      ) >= 0,
    )
    assert.equal(running.total, this.running.length)
    if (this.dispatch.state.isDue && event.type !== 'tick') this.send(TICK)
    // Leases that wait too long are noticed in time.
    const { buffer, isDue } = this.dispatch.state
    if (buffer.total > 0) assert.ok(isDue || this.sleepsUntil <= buffer.checkAt)
  }

  pass(ms: number): void {
    this.now += ms
    if (this.now < this.sleepsUntil) return
    this.sleepsUntil = Infinity
    this.send(TICK)
  }

  perform(effect: DispatchEffect): void {
    if (effect.type === 'run') {
      assert.equal(this.fate.get(effect.lease), 'held')
      this.fate.set(effect.lease, 'running')
      this.running.push(effect.lease)
    } else if (effect.type === 'release') {
      for (const lease of effect.leases) {
        assert.equal(this.fate.get(lease), 'held')
        this.fate.set(lease, 'released')
      }
    } else if (effect.type === 'claim') {
      assert.deepEqual([this.claim, this.isComparing, this.isAlive], [null, false, true])
      assert.ok(effect.request.limit > 0)
      if (effect.request.quarantined === 'only') assert.deepEqual(this.running, [])
      this.claim = effect.request
    } else if (effect.type === 'compare') {
      assert.deepEqual([this.claim, this.isComparing], [null, false])
      this.isComparing = true
    } else if (effect.type === 'offerWorker') {
      assert.deepEqual(this.running, [])
      this.offerWorker = effect.offer
      this.send({ type: 'workerOffered', offer: effect.offer })
    } else if (effect.type === 'sleepUntil') {
      // A time in the past would be a loop without end.
      assert.ok(effect.at > this.now)
      this.sleepsUntil = Math.min(this.sleepsUntil, effect.at)
    }
  }

  lease(queue: string): Lease {
    const lease = aLease({ queue })
    this.fate.set(lease, 'held')
    return lease
  }

  take(one: Step): void {
    this.pass(1)
    switch (one.do) {
      case 'reply':
        if (this.isComparing) {
          this.isComparing = false
          return this.send({ type: 'compared', moreInMs: null })
        }
        return this.reply(one.share)
      case 'fail': {
        if (this.claim === null) return
        this.claim = null
        return this.send({ type: 'claimFailed', isUnknown: one.isUnknown, pauseMs: 100 })
      }
      case 'end': {
        const [lease] = this.running.splice(one.at % Math.max(1, this.running.length), 1)
        return this.end(lease)
      }
      case 'ready':
        return this.send({ type: 'jobsReady', queues: [one.queue] })
      case 'wait':
        this.pass(one.ms)
        return this.send(TICK)
      case 'enqueue': {
        const offer = (this.offers += 1)
        this.send({ type: 'enqueueing', offer, jobs: [aJob({ queue: one.queue, kind: 'work' })] })
        if (this.dispatch.state.offers.has(offer)) this.writes.push({ offer, queue: one.queue })
        return
      }
      case 'dispatch': {
        const write = this.writes.shift()
        if (write === undefined) return
        const leases = one.isUsed ? [this.lease(write.queue)] : []
        return this.send({ type: 'dispatched', offer: write.offer, leases })
      }
      case 'lose':
        this.isAlive = false
        for (const [lease, fate] of this.fate) if (fate === 'held') this.fate.set(lease, 'lost')
        this.send({ type: 'leaseLost' })
        this.isAlive = true
        return this.send({ type: 'leaseRenewed', until: this.now + 3_600_000 })
      case 'heartbeat':
        return this.send({ type: 'heartbeat', ready: true, quarantined: one.quarantined })
      case 'workers': {
        const [a, b, c] = one.counts
        this.workers = { a, b, c }
        return this.send(settingsChanged({ workers: this.workers }))
      }
      case 'remoteDispatch':
        return this.send({ type: 'jobDispatched', offer: this.offerWorker, lease: this.lease(one.queue) })
    }
  }

  reply(share: number): void {
    const { claim } = this
    if (claim === null) return
    this.claim = null
    const leases: Lease[] = []
    for (const { queue, room } of claim.queues)
      for (let n = 0; n < Math.floor(room * share) && leases.length < claim.limit; n += 1)
        leases.push(this.lease(queue))
    this.send({ type: 'claimed', leases })
  }

  end(lease: Lease | undefined): void {
    if (lease === undefined) return
    this.fate.set(lease, 'ended')
    this.send({ type: 'workerFreed', queue: lease.queue })
    const job = { queue: lease.queue, kind: 'work', ranMs: 20 }
    this.send({ type: 'outcomesSettled', count: 1, finished: [job] })
  }

  /** Everything in flight ends: nothing may be left over. */
  finish(): void {
    this.send({ type: 'stopped' })
    this.isComparing = false
    this.reply(1)
    for (const { offer } of this.writes) this.send({ type: 'dispatched', offer, leases: [] })
    while (this.running.length > 0) this.end(this.running.shift())
    const { running, reserved, buffer, unwritten } = this.dispatch.state
    assert.deepEqual([running.total, reserved.total, buffer.total, unwritten], [0, 0, 0, 0])
  }

  /** Leases that neither ended nor were released. */
  leftOver(): string[] {
    return [...this.fate.values()].filter((fate) => fate === 'held' || fate === 'running')
  }
}
