// Everything but jobs: settings, limits, schedules with their history, and what dead processes leave.
import { DEFAULT_QUEUE_SETTINGS } from '../../src/job/queue/queue-settings.ts'
import { overlapKey } from '../../src/job/schedule/schedule.ts'
import {
  aClaim,
  aDefinition,
  anAlert,
  aRule,
  aJob,
  anInstance,
  anAcquire,
  aTick,
} from '../../../conformance/src/factories.ts'
import { HOUR, type Words } from './words.ts'

/** The first tick that ran. */
export const SERVED_AT = 999_999_960_000

export async function settings({ store }: Words): Promise<void> {
  await store.limits.declare([
    { name: 'smtp', settings: { type: 'rate', amount: 3, perMs: 1_000, burst: 7 } },
    { name: 'seats', settings: { type: 'concurrency', most: 2 } },
    { name: 'quiet', settings: { type: 'rate', amount: 1, perMs: 1_000, burst: 1 } },
  ])
  // With fractions of a millisecond, and with waiters that will return.
  await store.limits.acquire([
    anAcquire('smtp', { amount: 5 }),
    anAcquire('smtp', { amount: 5, waitUpToMs: 10 }),
  ])
  await store.limits.drain('quiet', HOUR)
  await store.queues.declare([
    { name: 'mail', settings: { ...DEFAULT_QUEUE_SETTINGS, workers: 4, backoffBaseMs: 5, keepDead: 3 } },
    { name: 'limited', settings: { ...DEFAULT_QUEUE_SETTINGS, limit: 'smtp', retainDeadMs: HOUR } },
    { name: 'plain', settings: DEFAULT_QUEUE_SETTINGS },
  ])
  await store.queues.declare([{ name: 'paused', settings: DEFAULT_QUEUE_SETTINGS }])
  await store.queues.change('paused', { settings: { paused: true, workers: 0 }, coolMs: null })
}

export async function planned({ store, clock }: Words): Promise<void> {
  const definition = aDefinition({ queue: 'mail', tags: ['by-schedule'] })
  await store.schedules.declare([
    { name: 'served', version: 2, definition },
    { name: 'changed', version: 1, definition },
    { name: 'deleted', version: 3, definition },
    { name: 'new', version: 1, definition },
  ])
  await store.schedules.create('made', aDefinition({ when: 'every 10m', paused: true }))
  await store.schedules.change('changed', { when: 'every 1h', payload: '{"b": 1, "a": 2}' })
  const alone = {
    key: overlapKey('served'),
    holdMs: 0,
    holdAfter: 'done' as const,
    onConflict: 'keep' as const,
  }
  const fires = [0, 1, 2].map((n) => ({
    at: SERVED_AT + n * 60_000,
    job: { ...aJob({ queue: 'mail' }), dedupe: alone },
  }))
  await store.schedules.tick([
    aTick('served', { nextAt: clock.now() + 60_000, fires, missed: 4 }),
    aTick('deleted', { nextAt: clock.now() + 5, fires: [{ at: SERVED_AT, job: aJob() }] }),
  ])
  await store.schedules.delete('deleted', 'ops')
  await store.schedules.failed('changed', 'it could not be read')
}

export async function alerted({ store }: Words): Promise<void> {
  const finding = {
    check: 'dead',
    level: 'warning',
    about: { what: 'queue', name: 'mail' },
    message: 'queue "mail" has 1 dead job: “é”',
    fix: 'Inspect the errors',
    since: 5,
  } as const
  const state = {
    causes: [{ ...finding, endedAt: null, sent: 1, sentAt: 6, sentLevel: 'warning' as const }],
    outbox: [{ ...finding, id: 'msg_1', type: 'problem' as const, at: 6 }],
  }
  await store.alerts.put(anAlert('ops', { state }))
  const revision = await store.alerts.put(anAlert('paused'))
  await store.alerts.put(anAlert('paused', { revision, rule: aRule({ paused: true }) }))
  await store.views.add({ name: 'Dead mail: “é”', search: 'queue=mail&state=dead', by: 'ada' })
}

/** Jobs of processes that died: once, twice, and too often. */
export async function crashed({ store, clock, running }: Words): Promise<void> {
  for (const crashes of [1, 2, 3]) {
    const queue = `crashed-${crashes}`
    for (let n = 0; n < crashes; n += 1) {
      const instance = anInstance({ leaseMs: 1_000 })
      await store.instances.register(instance)
      if (n === 0) await running({ queue, kind: 'crash' }, instance.id)
      else
        await store.claim(
          aClaim(instance.id, {
            queues: [{ queue, room: 1 }],
            kinds: ['crash'],
            quarantined: n === 2 ? 'only' : 'skip',
          }),
        )
      clock.advance(2_000)
      await store.instances.reap({ crashesUntilDead: 3, limit: 10 })
    }
  }
}
