/**
 * Fills a new database with a job in every state, by the code of a release and through its own store
 * contract.
 */
import type { FullStore } from 'jobmill'
import type { Transition } from 'jobmill/store'
import { fillCluster } from './fill-cluster.ts'
import type { Release } from '../releases/release.ts'
import { QUEUE, type Roles, type Scene, sceneOf } from './scene.ts'

export const PAUSED = 'paused'
/** The keys of a job that holds its key until it has run, and of one that holds it after its end. */
export const KEYS = { waiting: 'invoice 1', done: 'invoice 2' }

/** The year 2100. */
const FAR_AT = 4_102_444_800_000
const YEARS_MS = 3_650 * 86_400_000

export async function fill(release: Release, store: FullStore<never>): Promise<Roles> {
  const scene = sceneOf(release, store)
  const { settings } = scene
  await store.queues.declare([
    { name: QUEUE, settings: settings({ workers: 4, backoffBaseMs: 2_000 }) },
    { name: PAUSED, settings: settings({ paused: true }) },
  ])
  await fillEnded(scene)
  await fillRunning(scene)
  await fillCrashed(scene)
  await fillWaiting(scene)
  await fillCluster(scene)
  return scene.roles
}

/**
 * One job for each outcome, and one that failed and is retried far in the future; their instance has stopped.
 */
async function fillEnded({ store, roles, enqueue, register, claim }: Scene): Promise<void> {
  const instance = await register('stopped', 60_000)
  await enqueue({
    done: { tags: ['paid', 'eu'], metadata: { trace: 'abc' } },
    'done-with-key': { dedupe: { key: KEYS.done, holdFor: YEARS_MS } },
    dead: { maxAttempts: 1 },
    cancelled: {},
    retrying: { maxAttempts: 3 },
    'cancelled-while-waiting': { delay: '1h' },
  })
  const leases = await claim(instance, 5)
  const finish = async (role: string, transition: Transition, error?: string): Promise<void> => {
    const { id = '', token = 0 } = leases.get(role) ?? {}
    const outcome = error === undefined ? 'returned' : 'failed'
    const [answer] = await store.finish([{ id, token, transition, outcome, error }])
    if (answer?.accepted !== true) throw new Error(`${role} could not be finished`)
  }
  await finish('done', { to: 'done', result: '{"sent":true}' })
  await finish('done-with-key', { to: 'done', result: null })
  await finish('dead', { to: 'dead' }, 'no such mailbox')
  await finish('retrying', { to: 'scheduled', delayMs: YEARS_MS, refund: false }, 'try again')
  await store.cancel(
    [roles['cancelled'] ?? '', roles['cancelled-while-waiting'] ?? ''],
    'not wanted any more',
  )
  await finish('cancelled', { to: 'cancelled' }, 'told to stop')
  await store.instances.deregister(instance)
}

/** Leased to an instance that sends no more heartbeats. */
async function fillRunning({ store, roles, enqueue, register, claim }: Scene): Promise<void> {
  const instance = await register('silent', 5_000)
  await enqueue({
    running: { tags: ['eu'] },
    'asked-to-stop': {},
    'first-of-line': { orderKey: 'customer 7' },
  })
  await store.stage(10)
  const { id = '', token = 0 } = (await claim(instance, 3)).get('running') ?? {}
  await store.progress([{ id, token, value: '{"percent":40}' }])
  await store.cancel([roles['asked-to-stop'] ?? ''], 'stop it')
}

/** Recovered once from a lost instance. */
async function fillCrashed({ store, enqueue, register, claim }: Scene): Promise<void> {
  await enqueue({ crashed: {} })
  const instance = await register('lost', 200)
  await claim(instance, 1)
  for (;;) {
    const { instances } = await store.instances.reap({ crashesUntilDead: 3, limit: 1 })
    if (instances.includes(instance)) return
  }
}

async function fillWaiting({ store, enqueue }: Scene): Promise<void> {
  await enqueue({
    ready: {},
    urgent: { priority: -5, timeout: '1m', tags: ['paid'] },
    keyed: { dedupe: { key: KEYS.waiting } },
    'second-of-line': { orderKey: 'customer 7' },
    'third-of-line': { orderKey: 'customer 7' },
    far: { runAt: FAR_AT },
    held: { queue: PAUSED },
  })
  // Staging builds the order queue; jobs that become due after that stay scheduled.
  await store.stage(10)
  await enqueue({ due: { delay: 1 } })
}
