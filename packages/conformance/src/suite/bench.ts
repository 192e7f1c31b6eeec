/** The fixture of one case: handles on its database, a clock, common steps, and checks. */
import assert from 'node:assert/strict'
import type {
  ClaimRequest,
  Finish,
  Finished,
  FullStore,
  Heartbeat,
  HeartbeatRequest,
  JobRequest,
  JobState,
  Lease,
  NewInstance,
  QueueRecord,
  QueueSettings,
  Reaped,
  Retained,
  RetainRequest,
  Transition,
} from 'jobmill/store'
import { testClock } from 'jobmill/testing'
import {
  aClaim,
  aFinish,
  aHeartbeat,
  aJob,
  anInstance,
  aRetain,
  DONE,
  HOUR,
  only,
  QUEUE,
} from '../factories.ts'
import { Checks } from './checks.ts'
import type { ConformanceSubject } from './subject.ts'

/** A tuple of N items, so that each can be named. */
type Tuple<T, N extends number, Items extends T[] = []> = number extends N
  ? T[]
  : Items['length'] extends N
    ? Items
    : Tuple<T, N, [...Items, T]>

/** A lease and its instance. */
export interface HeldLease extends Lease {
  readonly instance: string
}

export class Bench extends Checks {
  readonly clock = testClock()
  /** The first handle. */
  readonly store: FullStore
  readonly transaction: NonNullable<ConformanceSubject['transaction']>
  readonly #subject: ConformanceSubject
  readonly #handles: FullStore[] = []
  #kinds = 0

  constructor(subject: ConformanceSubject) {
    super()
    this.#subject = subject
    this.store = this.unopened()
    this.transaction = subject.transaction ?? noTransactions
  }

  /** A handle that is not opened yet. Without `clock` it uses the clock of the database. */
  unopened(options: { readonly clock?: () => number } = { clock: this.clock.now }): FullStore {
    // The cases of absent parts are not run, so every part that a case uses exists.
    const store = this.#subject.handle(options) as FullStore
    this.#handles.push(store)
    return store
  }

  /** Another handle on the same database, opened. */
  async another(): Promise<FullStore> {
    const store = this.unopened()
    await store.open()
    return store
  }

  /** Returns `count` open stores; the first is `this.store`. */
  async handles<N extends number>(count: N): Promise<Tuple<FullStore, N>> {
    const stores = [this.store]
    while (stores.length < count) stores.push(await this.another())
    return stores as Tuple<FullStore, N>
  }

  async close(): Promise<void> {
    await Promise.all(this.#handles.map((store) => store.close()))
  }

  /** Enqueues one job and returns its id. */
  async enqueue(request?: Partial<JobRequest>): Promise<string> {
    const job = aJob(request)
    assert.deepEqual(await this.store.enqueue([job]), [{ id: job.id, outcome: 'enqueued' }])
    return job.id
  }

  /** Registers an instance and returns its id. */
  async worker(overrides?: Partial<NewInstance>): Promise<string> {
    const instance = anInstance(overrides)
    await this.store.instances.register(instance)
    return instance.id
  }

  async claim(instance: string, overrides?: Partial<ClaimRequest>): Promise<HeldLease[]> {
    return (await this.store.claim(aClaim(instance, overrides))).map((lease) => ({ ...lease, instance }))
  }

  async claimIds(instance: string, overrides?: Partial<ClaimRequest>): Promise<string[]> {
    return (await this.claim(instance, overrides)).map(({ id }) => id)
  }

  async claimOne(instance: string, overrides?: Partial<ClaimRequest>): Promise<HeldLease> {
    return only(await this.claim(instance, overrides))
  }

  /** A new job of its own kind, running on the instance (default: a new one). */
  async running(request: Partial<JobRequest> = {}, instance?: string): Promise<HeldLease> {
    this.#kinds += 1
    const { kind = `alone-${this.#kinds}`, queue = QUEUE } = request
    const id = await this.enqueue({ ...request, kind, queue })
    if (request.orderKey !== undefined) await this.store.stage(500)
    const lease = await this.claimOne(instance ?? (await this.worker()), {
      queues: [{ queue, room: 1 }],
      kinds: [kind],
    })
    assert.equal(lease.id, id)
    return lease
  }

  /** Several new jobs, each of its own kind and running on its own instance. */
  async runningJobs<N extends number>(count: N): Promise<Tuple<HeldLease, N>> {
    const leases: HeldLease[] = []
    while (leases.length < count) leases.push(await this.running())
    return leases as Tuple<HeldLease, N>
  }

  /** Leases the job again, to a new instance. */
  async claimAgain({ kind }: Lease): Promise<HeldLease> {
    return this.claimOne(await this.worker(), { kinds: [kind] })
  }

  /** A stale and a current lease of one job: the first instance was reaped, and another one runs the job. */
  async takenOver(): Promise<[stale: HeldLease, current: HeldLease]> {
    const stale = await this.running({}, await this.worker({ leaseMs: 1 }))
    this.clock.advance(1)
    await this.reap()
    return [stale, await this.claimAgain(stale)]
  }

  /** The ids of an instance that was reaped, of one that stopped, and of one that never existed. */
  async endedInstances(): Promise<[lost: string, stopped: string, unknown: string]> {
    const [lost, stopped] = [await this.worker({ leaseMs: 1 }), await this.worker()]
    this.clock.advance(1)
    await this.reap()
    await this.store.instances.deregister(stopped)
    return [lost, stopped, anInstance().id]
  }

  /** A new job in this state. */
  async jobIn(state: JobState, request: Partial<JobRequest> = {}): Promise<string> {
    if (state === 'scheduled') return this.enqueue({ delay: HOUR, ...request })
    if (state === 'ready') return this.enqueue(request)
    const lease = await this.running(request)
    if (state === 'running') return lease.id
    const reply = await this.finish(lease, state === 'done' ? DONE : { to: state })
    assert.equal(reply.state, state)
    return lease.id
  }

  async finish(lease: Lease, transition: Transition, more?: Partial<Finish>): Promise<Finished> {
    return only(await this.store.finish([aFinish(lease, transition, more)]))
  }

  renew(instance: string, overrides?: Partial<HeartbeatRequest>): Promise<Heartbeat> {
    return this.store.instances.renew(aHeartbeat(instance, overrides))
  }

  /** Reaps all expired instances. A job is dead with its third crash, unless the case says otherwise. */
  reap(crashesUntilDead = 3): Promise<Reaped> {
    return this.store.instances.reap({ crashesUntilDead, limit: 100 })
  }

  /** Lets an hour pass, so that instances with the default lease expire, and reaps them. */
  crash(crashesUntilDead?: number): Promise<Reaped> {
    this.clock.advance(HOUR)
    return this.reap(crashesUntilDead)
  }

  /** Makes the job of this kind crash this many times, each time on a new instance. */
  async crashTimes(kind: string, times: number): Promise<void> {
    for (let n = 0; n < times; n += 1) {
      await this.claimOne(await this.worker(), { kinds: [kind], quarantined: n < 2 ? 'skip' : 'only' })
      await this.crash(99)
    }
  }

  retain(overrides?: Partial<RetainRequest>): Promise<Retained> {
    return this.store.retain(aRetain(overrides))
  }

  /** Overrides options of a queue. */
  setQueue(queue: string, settings: Partial<QueueSettings>, by?: string): Promise<QueueRecord> {
    return this.store.queues.change(queue, { settings, coolMs: null }, by)
  }
}

async function noTransactions(): Promise<never> {
  throw new Error('the subject has no transaction. Pass one, or add "transactions" to its option "without"')
}

/** Opens the first handle, runs the case, and closes every handle it opened. */
export async function onBench(
  subject: ConformanceSubject,
  run: (bench: Bench) => Promise<void>,
): Promise<void> {
  await subject.fresh()
  const bench = new Bench(subject)
  try {
    await bench.store.open()
    await run(bench)
  } finally {
    await bench.close()
  }
}
