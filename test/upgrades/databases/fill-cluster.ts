/**
 * Fills what processes share: limits with held permits, schedules that have run, slots, leaders, metrics and
 * events.
 */
import type { ScheduleDefinition } from 'jobmill/store'
import { KIND, QUEUE, type Scene } from './scene.ts'

export const LIMITED = 'limited'
export const QUICK = 'quick'
const LIMITS = { queue: 'database', rate: 'api' }
/** One schedule from code and one from an operator. */
export const SCHEDULES = { code: 'nightly', operator: 'cleaning' }

/** 1 January 2026, 9:00 UTC, and a day later. */
const SERVED_AT = 1_767_258_000_000
const NEXT_AT = SERVED_AT + 86_400_000

export async function fillCluster(scene: Scene): Promise<void> {
  const instance = await scene.register('leader', 5_000)
  await fillLimits(scene, instance)
  await fillSchedules(scene)
  await fillShared(scene, instance)
  await fillDispatched(scene, instance)
}

/** The only permit is held by a job whose instance sends no more heartbeats. */
async function fillLimits({ store, settings, enqueue, claim }: Scene, instance: string): Promise<void> {
  await store.limits.declare([
    { name: LIMITS.queue, settings: { type: 'concurrency', most: 1 } },
    { name: LIMITS.rate, settings: { type: 'rate', amount: 100, perMs: 1_000, burst: 10 } },
  ])
  await store.queues.declare([{ name: LIMITED, settings: settings({ limit: LIMITS.queue, keepDead: 50 }) }])
  await enqueue({
    'with-permit': { queue: LIMITED },
    'without-permit': { queue: LIMITED },
    'without-permit-either': { queue: LIMITED },
  })
  const { id: holder = '', token = 0 } = (await claim(instance, 1, LIMITED)).get('with-permit') ?? {}
  await store.limits.acquire([{ limit: LIMITS.rate, amount: 3, holder, token, instance, waitUpToMs: 0 }])
}

/** A schedule that ran once and whose next tick is long past, and a paused one. */
async function fillSchedules({ store, prepare }: Scene): Promise<void> {
  const definition: ScheduleDefinition = {
    when: '0 9 * * *',
    zone: 'UTC',
    jitterMs: 0,
    startAt: null,
    endAt: null,
    missed: 'last',
    missedWithinMs: 86_400_000,
    overlap: 'allow',
    paused: false,
    kind: KIND,
    queue: QUEUE,
    payload: '"tick"',
    priority: 0,
    maxAttempts: 5,
    timeoutMs: null,
    tags: ['nightly'],
  }
  await store.schedules.declare([{ name: SCHEDULES.code, version: 2, definition }])
  await store.schedules.create(SCHEDULES.operator, { ...definition, when: 'every 10m', paused: true })
  const step = { schedule: SCHEDULES.code, revision: 1, missed: 0 }
  await store.schedules.tick([{ ...step, from: null, nextAt: SERVED_AT, fires: [] }])
  const fires = prepare({ ticked: {} }).map((job) => ({ at: SERVED_AT, job }))
  const [ticked] = await store.schedules.tick([{ ...step, from: SERVED_AT, nextAt: NEXT_AT, fires }])
  if (ticked?.accepted !== true) throw new Error('the schedule enqueued no job')
}

/** What an instance leaves behind that was a leader, had its share of workers, and wrote metrics. */
async function fillShared({ store }: Scene, instance: string): Promise<void> {
  await store.instances.renew({
    instance,
    leaseMs: 5_000,
    renewEveryMs: 0,
    queues: [QUEUE],
    kinds: [KIND],
    duties: [{ name: 'retain', succeededAgoMs: 0, failures: 0 }],
  })
  await store.instances.assign([{ instance, queue: QUEUE, workers: 4 }])
  const event = { type: 'queue-changed', agoMs: 0, queue: QUEUE, job: null, data: '{}' }
  await store.metrics.record({ source: instance, seq: 1, deltas: [], own: [], events: [event] })
}

/** Running as soon as it is written, by direct dispatch. */
async function fillDispatched({ store, settings, prepare }: Scene, instance: string): Promise<void> {
  await store.queues.declare([{ name: QUICK, settings: settings({}) }])
  const directDispatch = { instance, queues: [{ queue: QUICK, room: 1 }], kinds: [KIND] }
  const [written] = await store.enqueue(prepare({ 'handed-off': { queue: QUICK } }), { directDispatch })
  if (written?.lease === undefined) throw new Error('the job was not dispatched directly')
}
