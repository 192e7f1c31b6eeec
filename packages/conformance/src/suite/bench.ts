/** The fixture of one case: handles on its database, a clock, and helpers for common steps. */
import assert from 'node:assert/strict'
import type {
  ClaimRequest,
  Finish,
  Finished,
  FullStore,
  JobRecord,
  JobRequest,
  JobState,
  Lease,
  NewInstance,
  Outcome,
  Reaped,
  Transition,
} from 'jobmill/store'
import { aClaim, aJob, anInstance } from '../factories.ts'
import { type TestClock, testClock } from 'jobmill/testing'
import { type Expected, hasFields } from './looks.ts'
import type { ConformanceSubject } from './subject.ts'

/** That many items, so that each can be named. */
type Tuple<T, N extends number, Items extends T[] = []> = number extends N
  ? T[]
  : Items['length'] extends N
    ? Items
    : Tuple<T, N, [...Items, T]>

/** A lease and its instance. */
interface Held extends Lease {
  readonly instance: string
}

export interface Bench {
  readonly clock: TestClock
  /** The first handle. */
  readonly store: FullStore
  /** Another handle on the same database, opened. */
  readonly another: () => Promise<FullStore>
  /** A handle that is not opened yet. Without `clock` it uses the clock of the database. */
  readonly unopened: (options?: { readonly clock?: () => number }) => FullStore
  readonly transaction: NonNullable<ConformanceSubject['transaction']>
  /** Enqueues one job and returns its id. */
  readonly enqueue: (request?: Partial<JobRequest>) => Promise<string>
  /** Registers an instance and returns its id. */
  readonly worker: (overrides?: Partial<NewInstance>) => Promise<string>
  readonly claim: (instance: string, overrides?: Partial<ClaimRequest>) => Promise<Held[]>
  readonly claimOne: (instance: string, overrides?: Partial<ClaimRequest>) => Promise<Held>
  /** A new job of its own kind, running on the instance (default: a new one). */
  readonly running: (request?: Partial<JobRequest>, instance?: string) => Promise<Held>
  /** That many new jobs, each of its own kind and running on its own instance. */
  readonly runningJobs: <N extends number>(count: N) => Promise<Tuple<Held, N>>
  /** Leases the job again, to a new instance. */
  readonly claimAgain: (lease: Lease) => Promise<Held>
  /** A stale and a current lease of one job: the first instance was reaped, and another one runs the job. */
  readonly takenOver: () => Promise<[stale: Held, current: Held]>
  /** The ids of an instance that was reaped, of one that stopped, and of one that never existed. */
  readonly endedInstances: () => Promise<[lost: string, stopped: string, unknown: string]>
  /** A new job in this state. */
  readonly jobIn: (state: JobState, request?: Partial<JobRequest>) => Promise<string>
  readonly finish: (lease: Lease, transition: Transition, more?: Partial<Finish>) => Promise<Finished>
  readonly job: (id: string) => Promise<JobRecord>
  /** Checks the named fields of a job. */
  readonly jobIs: (id: string, expected: Expected<JobRecord>) => Promise<void>
  /** Reaps all expired instances. A job is dead with its third crash, unless the case says otherwise. */
  readonly reap: (crashesUntilDead?: number) => Promise<Reaped>
  /** Lets an hour pass, so that instances with the default lease expire, and reaps them. */
  readonly crash: (crashesUntilDead?: number) => Promise<Reaped>
}

export const DONE: Transition = { to: 'done', result: null }
export const FORGET = { to: 'done', result: null, forget: true } as const satisfies Transition
export const DEAD: Transition = { to: 'dead' }
export const RELEASED: Transition = { to: 'ready' }
export const HOUR = 3_600_000

export function later(delayMs: number, { refund = false } = {}): Transition {
  return { to: 'scheduled', delayMs, refund }
}

/** The default outcome of each transition. */
const USUAL: Readonly<Record<Transition['to'], Outcome | null>> = {
  done: 'returned',
  scheduled: 'failed',
  ready: null,
  dead: 'failed-permanently',
  cancelled: 'cancelled',
}

export function aFinish(
  lease: Pick<Lease, 'id' | 'token'>,
  transition: Transition,
  more: Partial<Finish> = {},
): Finish {
  return { id: lease.id, token: lease.token, transition, outcome: USUAL[transition.to], ...more }
}

export function only<T>(items: readonly T[]): T {
  const [item] = items
  assert.equal(items.length, 1)
  assert.ok(item !== undefined)
  return item
}

/** Opens the first handle, runs the case, and closes every handle it opened. */
export async function onBench(
  subject: ConformanceSubject,
  run: (bench: Bench) => Promise<void>,
): Promise<void> {
  await subject.fresh()
  const clock = testClock()
  const handles: FullStore[] = []
  const unopened: Bench['unopened'] = (options = { clock: clock.now }) => {
    // The cases of absent parts are not run, so every part that a case uses is there.
    const store = subject.handle(options) as FullStore
    handles.push(store)
    return store
  }
  const another = async (): Promise<FullStore> => {
    const store = unopened()
    await store.open()
    return store
  }
  try {
    const store = await another()
    const transaction = subject.transaction ?? noTransactions
    await run({ clock, store, another, unopened, transaction, ...words(store, clock) })
  } finally {
    await Promise.all(handles.map((store) => store.close()))
  }
}

async function noTransactions(): Promise<never> {
  throw new Error('the subject has no transaction: add "transactions" to its without')
}

type Words = Omit<Bench, 'clock' | 'store' | 'another' | 'unopened' | 'transaction'>

function words(store: FullStore, clock: TestClock): Words {
  let kinds = 0
  const enqueue: Words['enqueue'] = async (request) => {
    const job = aJob(request)
    assert.deepEqual(await store.enqueue([job]), [{ id: job.id, outcome: 'enqueued' }])
    return job.id
  }
  const worker: Words['worker'] = async (overrides) => {
    const instance = anInstance(overrides)
    await store.instances.register(instance)
    return instance.id
  }
  const claim: Words['claim'] = async (instance, overrides) =>
    (await store.claim(aClaim(instance, overrides))).map((lease) => ({ ...lease, instance }))
  const claimOne: Words['claimOne'] = async (instance, overrides) => only(await claim(instance, overrides))
  const running: Words['running'] = async (request = {}, overrides) => {
    kinds += 1
    const kind = request.kind ?? `alone-${kinds}`
    const { queue = 'default' } = request
    const id = await enqueue({ ...request, kind, queue })
    if (request.orderKey !== undefined) await store.stage(500)
    const lease = await claimOne(overrides ?? (await worker()), {
      queues: [{ queue, room: 1 }],
      kinds: [kind],
    })
    assert.equal(lease.id, id)
    return lease
  }
  const finish: Words['finish'] = async (lease, transition, more) =>
    only(await store.finish([aFinish(lease, transition, more)]))
  const job: Words['job'] = async (id) => {
    const [record] = await store.get([id])
    assert.ok(record, `job ${id} does not exist`)
    return record
  }
  const jobIn: Words['jobIn'] = async (state, request = {}) => {
    if (state === 'scheduled') return enqueue({ delay: HOUR, ...request })
    if (state === 'ready') return enqueue(request)
    const lease = await running(request)
    if (state === 'running') return lease.id
    const reply = await finish(lease, state === 'done' ? DONE : { to: state })
    assert.equal(reply.state, state)
    return lease.id
  }
  const runningJobs: Words['runningJobs'] = async <N extends number>(count: N) => {
    const leases: Held[] = []
    while (leases.length < count) leases.push(await running())
    return leases as Tuple<Held, N>
  }
  const claimAgain: Words['claimAgain'] = async ({ kind }) => claimOne(await worker(), { kinds: [kind] })
  const takenOver: Words['takenOver'] = async () => {
    const stale = await running({}, await worker({ leaseMs: 1 }))
    clock.advance(1)
    await reap()
    return [stale, await claimAgain(stale)]
  }
  const endedInstances: Words['endedInstances'] = async () => {
    const [lost, stopped] = [await worker({ leaseMs: 1 }), await worker()]
    clock.advance(1)
    await reap()
    await store.instances.deregister(stopped)
    return [lost, stopped, anInstance().id]
  }
  const jobIs: Words['jobIs'] = async (id, expected) => hasFields(await job(id), expected)
  const reap: Words['reap'] = (crashesUntilDead = 3) => store.instances.reap({ crashesUntilDead, limit: 100 })
  const crash: Words['crash'] = (crashesUntilDead) => {
    clock.advance(HOUR)
    return reap(crashesUntilDead)
  }
  const steps = { enqueue, worker, claim, claimOne, claimAgain, finish, reap, crash, job, jobIs }
  return { ...steps, running, runningJobs, jobIn, takenOver, endedInstances }
}
