// Jobs and other holders acquire limits, and an operator changes them. Queues use them too: see
// operate.ts.
import * as fc from 'fast-check'
import type { LimitSettings } from '../../../src/job/limit/limit.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../src/job/queue/queue-settings.ts'
import type { AcquireRequest } from '../../../src/store/types/limit.ts'
import type { FullStore } from '../../../src/store/store.ts'
import { type System, tokenOf } from '../systems.ts'
import { ask, busyWorker, mintId, orCode, pick, type World, workerOf } from '../world.ts'
import { anyOne, LIMIT_KEYS, LIMITS, NOBODY, QUEUES, stepOf, type Weighted } from './names.ts'

const name = fc.constantFrom(...LIMITS)
/** Keyed limits are used with a key; now and then others are too, and keyed ones without. */
const anyKey = fc.constantFrom(...LIMIT_KEYS, undefined)
const anyName = fc.constantFrom(...LIMITS, ...LIMITS, ...LIMITS, NOBODY)

/** Declared at the start of a run. */
export const FIRST_LIMITS: Parameters<FullStore['limits']['declare']>[0] = [
  { name: 'rate', settings: { type: 'rate', amount: 3, perMs: 1_000, burst: 2 } },
  { name: 'permits', settings: { type: 'concurrency', most: 2 } },
  { name: 'keyed', settings: { type: 'rate', amount: 3, perMs: 1_000, burst: 2, perKey: true } },
]

const anySettings: fc.Arbitrary<LimitSettings> = fc.oneof(
  fc.record({
    type: fc.constant('rate' as const),
    amount: fc.constantFrom(1, 3, 50),
    perMs: fc.constantFrom(1_000, 7_000),
    burst: fc.constantFrom(1, 2, 5),
  }),
  fc.record({
    type: fc.constant('rate' as const),
    amount: fc.constantFrom(1, 3),
    perMs: fc.constant(1_000),
    burst: fc.constantFrom(1, 3),
    perKey: fc.constant(true as const),
  }),
  fc.record({ type: fc.constant('concurrency' as const), most: fc.constantFrom(1, 3) }),
)
// fast-check makes objects without a prototype, and a store may return what it was given.
const settings = anySettings.map((input) => ({ ...input }))

const asking = fc.record({
  limit: anyName,
  key: anyKey,
  /** A job that a worker believes to run, or a holder outside of jobs. */
  by: fc.constantFrom('job' as const, 'job' as const, 'outside' as const),
  worker: anyOne,
  holder: anyOne,
  amount: fc.constantFrom(1, 1, 2, 4),
  waitUpToMs: fc.constantFrom(0, 100, 1_000),
})
type Asking = typeof asking extends fc.Arbitrary<infer T> ? T : never

/** An acquire before the token of its claim in each system is known. */
type NamedTake = Omit<AcquireRequest, 'token'> & { readonly claim: number | null }

function nameTake(world: World, { by, worker, holder, limit, key, amount, waitUpToMs }: Asking): NamedTake {
  const what = {
    limit,
    key: (holder % 8 === 0) === (limit === 'keyed') ? undefined : (key ?? LIMIT_KEYS[0]),
    amount,
    waitUpToMs,
  }
  const { hand, instance } = busyWorker(world, worker)
  // Mostly a job that is believed to run; else one that was just finished, or seems to be.
  const leases = holder % 4 === 0 || hand.length === 0 ? world.sentFinishes.flat() : hand
  const lease = by === 'job' ? pick(leases, holder) : undefined
  if (lease !== undefined) return { ...what, holder: lease.id, instance, claim: lease.claim }
  while (world.holders.length < 2) world.holders.push(mintId(world))
  const outside = pick(world.holders, holder) ?? ''
  return { ...what, holder: outside, instance: workerOf(world, worker).instance, claim: null }
}

function tokened(system: System, { claim, ...acquire }: NamedTake): AcquireRequest {
  return { ...acquire, token: claim === null ? null : tokenOf(system, { id: acquire.holder, claim }) }
}

function noteChange({ systems }: World): void {
  for (const system of systems) system.settings.changed = true
}

/** The settings in effect: a declaration or reset that does not change them is not reported. */
async function counting({ systems }: World): Promise<string> {
  const limits = (await systems[0]?.store.limits.list()) ?? []
  const queues = (await systems[0]?.store.queues.list()) ?? []
  return JSON.stringify([
    limits.map((limit) => [limit.name, limit.settings]),
    queues.map(({ name: queue, limit, paused }) => [queue, limit, paused]),
  ])
}

/** Queues in code that use a limit, which may not exist. */
const anyQueues = fc.array(
  fc.record({
    name: fc.constantFrom(...QUEUES),
    settings: fc
      .record({ limit: fc.constantFrom(...LIMITS, null, NOBODY) })
      .map(({ limit }) => ({ ...DEFAULT_QUEUE_SETTINGS, limit })),
  }),
  { maxLength: 1 },
)

export const limitSteps: readonly Weighted[] = [
  stepOf(
    2,
    'declare limits',
    fc.record({
      limits: fc.uniqueArray(fc.record({ name, settings }), { selector: (one) => one.name, maxLength: 2 }),
      queues: anyQueues,
    }),
    async (world, { limits, queues }) => {
      const before = await counting(world)
      await ask(
        world,
        'declare limits',
        ({ store }) => orCode(() => store.limits.declare(limits, queues)),
        (reply) => reply ?? 'declared',
      )
      if ((await counting(world)) !== before) noteChange(world)
    },
  ),
  stepOf(1, 'reset limit', anyName, async (world, name) => {
    const before = await counting(world)
    await ask(
      world,
      'reset limit',
      ({ store }) => orCode(() => store.overrides.reset('limit', name, null)),
      (options) => options,
    )
    if ((await counting(world)) !== before) noteChange(world)
  }),
  stepOf(1, 'change limit', fc.record({ name: anyName, settings }), async (world, { name, settings }) => {
    const reply = await ask(
      world,
      'change limit',
      ({ store }) => orCode(() => store.limits.change(name, settings)),
      (record) => record,
    )
    if (!('refused' in reply)) noteChange(world)
  }),
  stepOf(1, 'delete limit', anyName, async (world, name) => {
    const reply = await ask(
      world,
      'delete limit',
      ({ store }) => orCode(() => store.limits.delete(name)),
      (deleted) => deleted,
    )
    if (reply === true) noteChange(world)
  }),
  stepOf(6, 'acquire', fc.array(asking, { minLength: 1, maxLength: 3 }), async (world, wanted) => {
    const takes = wanted.map((one) => nameTake(world, one))
    await ask(
      world,
      `take ${JSON.stringify(takes)}`,
      (system) => system.store.limits.acquire(takes.map((item) => tokened(system, item))),
      (replies) => replies,
    )
  }),
  stepOf(1, 'give back', fc.array(asking, { minLength: 1, maxLength: 2 }), async (world, wanted) => {
    const items = wanted.map((one) => nameTake(world, one))
    await ask(
      world,
      'give back',
      (system) => system.store.limits.release(items.map((item) => tokened(system, item))),
      (replies) => replies,
    )
  }),
  stepOf(
    1,
    'drain',
    fc.record({ name: anyName, key: anyKey, forMs: fc.constantFrom(0, 500, 3_000) }),
    async (world, { name, key, forMs }) => {
      await ask(
        world,
        'drain',
        ({ store }) => orCode(() => store.limits.drain(name, forMs, key)),
        (record) => record,
      )
    },
  ),
]
