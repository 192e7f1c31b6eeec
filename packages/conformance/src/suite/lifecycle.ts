/** Open and close. */
import assert from 'node:assert/strict'
import { DEFAULT_QUEUE_SETTINGS, type FullStore, type Store, type Verb, verbOf } from 'jobmill/store'
import {
  anAlert,
  aClaim,
  aDefinition,
  aFinish,
  aHeartbeat,
  aJob,
  anAcquire,
  anInstance,
  aRetain,
  aTick,
  DONE,
} from '../factories.ts'
import { type Case, test } from './case.ts'
import { rejectsWith } from './looks.ts'
import { aStep, anEvent, aWait } from './steps/step-helpers.ts'

const id = '00000000-0000-7000-8000-000000000000'

/** The compiler reports a verb of the contract that is missing here. */
const everyVerb: Readonly<
  Record<Exclude<Verb, 'open' | 'close' | 'notifier.wait'>, (store: FullStore) => Promise<unknown>>
> = {
  enqueue: (store) => store.enqueue([aJob()]),
  stage: (store) => store.stage(1),
  claim: (store) => store.claim(aClaim(id)),
  finish: (store) => store.finish([aFinish({ id, token: 1 }, DONE)]),
  progress: (store) => store.progress([{ id, token: 1, value: '1' }]),
  cancel: (store) => store.cancel([id], 'no'),
  retry: (store) => store.retry([id]),
  runNow: (store) => store.runNow([id]),
  delete: (store) => store.delete([id]),
  'instances.register': (store) => store.instances.register(anInstance()),
  'instances.renew': (store) => store.instances.renew(aHeartbeat(id)),
  'instances.deregister': (store) => store.instances.deregister(id),
  'instances.request': (store) => store.instances.request(id, 'quiet', 'ada'),
  'instances.reap': (store) => store.instances.reap({ crashesUntilDead: 3, limit: 1 }),
  retain: (store) => store.retain(aRetain({ limit: 1 })),
  fold: (store) => store.fold(1),
  'metrics.rollUp': (store) => store.metrics.rollUp(1),
  'metrics.record': (store) => store.metrics.record({ source: id, seq: 1, deltas: [], own: [], events: [] }),
  'queues.declare': (store) => store.queues.declare([{ name: 'a', settings: DEFAULT_QUEUE_SETTINGS }]),
  'queues.change': (store) => store.queues.change('a', { settings: {}, coolMs: null }),
  'instances.assign': (store) => store.instances.assign([{ instance: id, queue: 'a', workers: 1 }]),
  'schedules.declare': (store) =>
    store.schedules.declare([{ name: 'a', version: 1, definition: aDefinition() }]),
  'schedules.create': (store) => store.schedules.create('a', aDefinition()),
  'schedules.change': (store) => store.schedules.change('a', { paused: true }),
  'schedules.delete': (store) => store.schedules.delete('a'),
  'schedules.tick': (store) => store.schedules.tick([aTick('a')]),
  'schedules.failed': (store) => store.schedules.failed('a', 'no'),
  'groups.change': (store) => store.groups.change('a', 'b', { paused: true }),
  'groups.list': (store) => store.groups.list('a', { limit: 1 }),
  'limits.declare': (store) =>
    store.limits.declare([{ name: 'a', settings: { type: 'concurrency', most: 1 } }]),
  'limits.create': (store) => store.limits.create('a', { type: 'concurrency', most: 1 }),
  'overrides.reset': (store) => store.overrides.reset('queue', 'a', null),
  'limits.change': (store) => store.limits.change('a', { type: 'concurrency', most: 1 }),
  'limits.delete': (store) => store.limits.delete('a'),
  'limits.acquire': (store) => store.limits.acquire([anAcquire('a')]),
  'limits.release': (store) => store.limits.release([{ limit: 'a', holder: id, token: null }]),
  'limits.drain': (store) => store.limits.drain('a', 1),
  get: (store) => store.get([id]),
  results: (store) => store.results([id]),
  'inspect.holders': (store) => store.inspect.holders(['global k']),
  'inspect.failures': (store) => store.inspect.failures([id]),
  'inspect.runs': (store) => store.inspect.runs([id], 0),
  history: (store) => store.history(id),
  list: (store) => store.list({}, { limit: 1 }),
  counts: (store) => store.counts(),
  'queues.list': (store) => store.queues.list(),
  'instances.list': (store) => store.instances.list(),
  'inspect.versions': (store) => store.inspect.versions(),
  'inspect.unservedKinds': (store) => store.inspect.unservedKinds(),
  now: (store) => store.now(),
  'inspect.position': (store) => store.inspect.position(id),
  'inspect.blocker': (store) => store.inspect.blocker(id),
  'instances.held': (store) => store.instances.held(id),
  'instances.duties': (store) => store.instances.duties(),
  'instances.slots': (store) => store.instances.slots(),
  'schedules.list': (store) => store.schedules.list(),
  'schedules.ticks': (store) => store.schedules.ticks('a', 1),
  'alerts.list': (store) => store.alerts.list(),
  'alerts.put': (store) => store.alerts.put(anAlert('a')),
  'alerts.delete': (store) => store.alerts.delete('a'),
  'views.list': (store) => store.views.list(),
  'views.add': (store) => store.views.add({ name: 'a', search: '', by: 'a' }),
  'views.delete': (store) => store.views.delete('a'),
  'limits.list': (store) => store.limits.list(),
  'overrides.list': (store) => store.overrides.list(),
  'metrics.read': (store) => store.metrics.read({ resolution: 10_000, from: 0, before: 1 }),
  'steps.record': (store) => store.steps.record([aStep({ id, token: 1 }, 'a')]),
  'steps.start': (store) => store.steps.start([{ id, token: 1, name: 'a', place: 0, jobs: [aJob()] }]),
  'steps.wait': (store) => store.steps.wait([aWait({ id, token: 1 }, 'a', { waitMs: 1 })]),
  'steps.read': (store) => store.steps.read([id]),
  'steps.children': (store) => store.steps.children(id, { limit: 1 }),
  'steps.parents': (store) => store.steps.parents([id]),
  'steps.rewind': (store) => store.steps.rewind(id, 0),
  'steps.fork': (store) => store.steps.fork(id, 0, aJob()),
  'steps.list': (store) => store.steps.list(id),
  'steps.send': (store) => store.steps.send([anEvent(id, 'e')]),
  'metrics.timeline': (store) => store.metrics.timeline({ limit: 1 }),
}

export const lifecycleCases: readonly Case[] = [
  test('P16 every verb of a store that is not open, or closed, reports it', async (t) => {
    const never = t.unopened()
    const tested: Store = t.store
    await t.store.close()
    for (const [name, act] of Object.entries(everyVerb)) {
      // The verbs of absent parts do not exist.
      if (verbOf(tested, name as Verb) === undefined) continue
      for (const [how, each] of Object.entries({ closed: t.store, 'never opened': never }))
        await rejectsWith('STORE_CLOSED', () => act(each)).catch((cause: unknown) => {
          throw new Error(`${name} on a store that is ${how} did not reject with STORE_CLOSED`, { cause })
        })
    }
  }),
  test('P16 open and close are idempotent, and close may come before open', async (t) => {
    const job = await t.enqueue()
    const store = t.unopened()
    await store.close()
    const second = t.unopened()
    await Promise.all([second.open(), second.open()])
    await second.open()
    assert.equal((await second.get([job]))[0]?.id, job)
    await Promise.all([second.close(), second.close()])
    await second.close()
  }),
  test('P16 several handles may open concurrently', async (t) => {
    const stores = [t.unopened(), t.unopened(), t.unopened(), t.unopened()]
    await Promise.all(stores.map((store) => store.open()))
    const job = aJob()
    await stores[0]?.enqueue([job])
    assert.equal((await stores[3]?.get([job.id]))?.[0]?.id, job.id)
  }),
  test('P3 P16 work continues through another handle after one was closed: leases, keys and order queues stay', async (t) => {
    const lease = await t.running({ orderKey: 'o', dedupe: { key: 'k' } })
    const waiting = await t.enqueue({ orderKey: 'o' })
    await t.store.close()
    const next = await t.another()
    assert.equal((await next.instances.renew(aHeartbeat(lease.instance))).alive, true)
    const [duplicate] = await next.enqueue([aJob({ dedupe: { key: 'k' } })])
    assert.deepEqual(duplicate, { id: lease.id, outcome: 'duplicate' })
    assert.equal((await next.stage(10)).ready, 0)
    const [reply] = await next.finish([aFinish(lease, DONE)])
    assert.equal(reply?.accepted, true)
    assert.equal((await next.stage(10)).ready, 1)
    assert.equal((await next.get([waiting]))[0]?.state, 'ready')
  }),
  test('a store has a display name', async (t) => {
    assert.ok(t.store.name.length > 0)
  }),
]
