/**
 * Diagnostics of the work on a database, on both stores: jobs without a worker, failing duties, dead
 * processes.
 */
import { describe, expect, onTestFinished } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { defineJob, jobmill, type MillOptions, type FullStore } from '../../src/index.ts'
import { diagnoseMill } from '../../src/runtime/diagnose/diagnostics.ts'
import { resolveOptions } from '../../src/runtime/options/options.ts'
import type { Diagnostic } from '../../src/store/admin/admin.ts'
import { aClaim, aJob, anInstance, aHeartbeat } from '../../../conformance/src/factories.ts'
import { type Place, places } from '../runtime/places.ts'

/** The fake clock of the database. */
interface Scene {
  readonly store: FullStore
  readonly pass: (ms: number) => void
  readonly diagnose: (options?: Omit<MillOptions, 'store'>) => Promise<Diagnostic[]>
  /** Only the problems, without healthy results. */
  readonly troubles: (options?: Omit<MillOptions, 'store'>) => Promise<Diagnostic[]>
}

async function scene(place: Place): Promise<Scene> {
  let at = Date.now()
  const store = place.store({ now: () => at })
  await store.open()
  onTestFinished(() => store.close())
  const diagnose: Scene['diagnose'] = async (options = {}) => {
    const all = { ...options, store: { ...store, close: () => Promise.resolve() } as FullStore<never> }
    const mill = jobmill({ ...all, log: 'silent' })
    try {
      return await diagnoseMill(mill, resolveOptions(all))
    } finally {
      await mill.stop()
    }
  }
  return {
    store,
    pass: (ms) => void (at += ms),
    diagnose,
    troubles: async (options) => (await diagnose(options)).filter(({ level }) => level !== 'ok'),
  }
}

const LONG_MS = 3_600_000

/** A process that reports the state of a duty. */
async function leading(
  store: FullStore,
  name: string,
  how: { readonly succeededAgoMs: number | null; readonly failures: number },
): Promise<string> {
  const instance = anInstance({ label: 'acme-worker', leaseMs: LONG_MS })
  await store.instances.register(instance)
  await store.instances.renew(aHeartbeat(instance.id, { leaseMs: LONG_MS, duties: [{ name, ...how }] }))
  return instance.id
}

describe.each(places)('diagnostics of a mill on $name', ({ name, create }) => {
  const test = inTurns(name, places)
  test('a database without processes has no problem, and neither has one with a process', async () => {
    const { store, diagnose } = await scene(create())
    expect(await diagnose()).toMatchObject([
      { check: 'instances', level: 'ok', message: 'no process is running' },
      { check: 'served', level: 'ok' },
    ])
    await leading(store, 'retain', { succeededAgoMs: 1_000, failures: 0 })
    expect(await diagnose()).toMatchObject([
      { check: 'instances', level: 'ok', message: 'running: acme-worker' },
      { check: 'served', level: 'ok' },
      { check: 'duties', level: 'ok', message: 'all 1 duties are on time' },
    ])
  })

  test('reports jobs without a worker, without processes and with others', async () => {
    const { store, troubles } = await scene(create())
    await store.enqueue([aJob({ queue: 'mail', kind: 'send' }), aJob({ queue: 'mail', kind: 'send' })])
    const message = '2 jobs of kind "send" in queue "mail" have no worker'
    expect(await troubles()).toEqual([
      {
        check: 'served',
        level: 'warning',
        message,
        fix: 'Start a worker: jobmill work',
        about: { what: 'kind', name: 'send' },
      },
    ])
    await store.instances.register(anInstance({ queues: ['mail'], kinds: ['other'] }))
    expect(await troubles()).toMatchObject([
      {
        check: 'served',
        message,
        fix: 'Start a worker that handles "send" on queue "mail", or cancel the jobs',
      },
    ])
    await store.instances.register(anInstance({ queues: ['mail'], kinds: ['send'] }))
    expect(await troubles()).toEqual([])
  })

  test('reports a duty that fails, and one that is overdue', async () => {
    const { store, troubles, pass } = await scene(create())
    const id = await leading(store, 'retain', { succeededAgoMs: 1_000, failures: 3 })
    expect(await troubles()).toEqual([
      {
        check: 'duties',
        level: 'warning',
        message: 'duty "retain" has failed 3 times in a row',
        fix: 'Check the log of acme-worker for "retain"',
        about: { what: 'duty', name: 'retain' },
      },
    ])
    pass(4_000)
    const bid = { name: 'retain', succeededAgoMs: 20 * 60_000, failures: 0 }
    await store.instances.renew(aHeartbeat(id, { duties: [bid] }))
    expect(await troubles()).toMatchObject([
      { check: 'duties', level: 'warning', message: 'duty "retain" has not succeeded for 20 min' },
    ])
    // With the period from the options it is not overdue.
    expect(await troubles({ retain: { every: '10m' } })).toEqual([])
    // Without a running process no duty can be late.
    await store.instances.deregister(id)
    expect(await troubles()).toEqual([])
  })

  test('reports a duty that never succeeded in a process that runs for long', async () => {
    const { store, troubles, pass } = await scene(create())
    const how = { succeededAgoMs: null, failures: 0 }
    const id = await leading(store, 'schedule', how)
    expect(await troubles()).toEqual([])
    pass(300_000)
    await store.instances.renew(aHeartbeat(id, { duties: [{ name: 'schedule', ...how }] }))
    expect(await troubles()).toMatchObject([{ message: 'duty "schedule" has not succeeded for 5 min' }])
  })

  test('reports a crashed process, without a reaper, and with a reaper that does not run', async () => {
    const { store, troubles, pass } = await scene(create())
    const gone = anInstance({ label: 'gone' })
    await store.instances.register(gone)
    await store.enqueue([aJob()])
    expect(await store.claim(aClaim(gone.id))).toHaveLength(1)
    pass(11_000)
    expect(await troubles()).toEqual([
      {
        check: 'instances',
        level: 'warning',
        message: 'gone stopped responding, and its jobs were not reclaimed',
        fix: 'Start a process, which reclaims the jobs',
        about: { what: 'instance', name: gone.id },
      },
    ])
    await store.instances.register(anInstance({ label: 'living' }))
    // This process has just started, and its reaper will soon run.
    expect(await troubles()).toEqual([])
    pass(20_000)
    await store.instances.register(anInstance({ label: 'another' }))
    expect((await troubles()).map(({ fix }) => fix)).toContain(
      'Check the logs of the running processes for "reap", then restart them',
    )
    await store.instances.reap({ crashesUntilDead: 3, limit: 10 })
    expect(await troubles()).toEqual([])
  })

  test('does not report a crashed process without jobs', async () => {
    const { store, troubles, diagnose, pass } = await scene(create())
    await store.instances.register(anInstance({ label: 'gone' }))
    pass(11_000)
    expect(await diagnose()).toMatchObject([{ check: 'instances', level: 'ok' }, { check: 'served' }])
    pass(20_000)
    await store.instances.register(anInstance({ label: 'living' }))
    expect(await troubles()).toEqual([])
  })

  test('reports options that an operator changed, but not a pause', async () => {
    const { store, diagnose, troubles } = await scene(create())
    const code = {
      jobs: [defineJob({ kind: 'send', queue: 'mail', run: () => 1 })],
      queues: { mail: { workers: 4 } },
      schedules: [{ name: 'nightly', job: 'send', when: '@daily' }],
    }
    expect(await troubles(code)).toEqual([])
    await store.schedules.delete('nightly')
    await store.queues.change('mail', { settings: { workers: 8, paused: true }, coolMs: null })
    expect(await troubles(code)).toEqual([
      {
        check: 'settings',
        level: 'notice',
        message: 'queue "mail": workers is 8, but code says 4',
        fix: 'Run "jobmill overrides reset queue mail workers", or set the value in code',
        about: { what: 'queue', name: 'mail' },
      },
      {
        check: 'settings',
        level: 'notice',
        message: 'schedule "nightly": deleted by an operator, but still defined in code',
        fix: 'Run "jobmill overrides reset schedule nightly deleted", or remove the schedule from code',
        about: { what: 'schedule', name: 'nightly' },
      },
    ])
    expect(await diagnose(code)).toContainEqual({
      check: 'paused',
      level: 'ok',
      message: 'paused: "mail"',
      fix: null,
      about: { what: null, name: null },
    })
    expect(await troubles()).toEqual([])
  })
})
