// Jobmill through its public API alone. `default` is a mill with a store, a job and no other options.
import { defineJob, jobmill } from 'jobmill'
import pg from 'pg'
import { postgres } from 'jobmill/postgres'
import { sqlite } from 'jobmill/sqlite'
import { versionOf } from '../measure/versions.ts'
import {
  busy,
  GROUP_LIMIT,
  groupOf,
  type Opening,
  payloadOf,
  type Place,
  type Queue,
  type Setting,
  type System,
} from '../system.ts'
import { until } from '../cell/until.ts'
import { openSteps } from './jobmill-steps.ts'

const WORKERS = 100

function open(place: Place, setting: Setting, { keep, load, groups }: Opening): Promise<Queue> {
  let ran: ((n: number) => void) | undefined
  let runs = 0
  const noop = defineJob({
    kind: 'noop',
    run({ payload }: { readonly payload: { readonly n: number; readonly to: string } }) {
      runs += 1
      ran?.(payload.n)
      return load === undefined ? { ok: true } : busy(load).then(() => ({ ok: true }))
    },
  })
  const settings = {
    ...(setting === 'best' && { workers: WORKERS }),
    // The workers of a queue are the total of all processes.
    ...(load !== undefined && { workers: load.workers * (load.processes ?? 1) }),
    ...(!keep && { retain: { done: 0 } }),
    ...(groups?.kind === 'fair' && { groups: { fair: true } }),
    ...(groups?.kind === 'limited' && { groups: { concurrency: GROUP_LIMIT } }),
  }
  const mill = jobmill({
    store: place.store === 'sqlite' ? sqlite(place.url) : postgres(place.url),
    jobs: [noop],
    ...(load?.processes !== undefined && { capacity: load.workers }),
    ...(Object.keys(settings).length > 0 && { queues: { default: settings } }),
  })
  const group = (n: number) => (groups === undefined ? {} : { group: groupOf(n, groups) })
  let application: pg.Client | undefined
  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: place.url })
    await client.connect()
    return client
  }
  const queue: Queue = {
    async enqueue(n) {
      await mill.enqueue(noop, payloadOf(n), group(n))
    },
    async enqueueInTransaction(n) {
      const tx = (application ??= await connect())
      await tx.query('BEGIN')
      await mill.enqueue(noop, payloadOf(n), { tx })
      await tx.query('COMMIT')
    },
    async enqueueMany(from, count) {
      const items = Array.from({ length: count }, (_, at) => ({
        payload: payloadOf(from + at),
        ...group(from + at),
      }))
      await mill.enqueueMany(noop, items)
    },
    async work(call) {
      ran = call
      await mill.start()
    },
    // Jobmill emits this event once the outcome is in the database.
    settled: () => until(() => (mill.eventCounts.emitted.finished ?? 0) >= runs),
    async stop() {
      await application?.end()
      await mill.stop()
    },
  }
  return mill.open().then(() => queue)
}

function system(store: 'postgres' | 'sqlite', setting: Setting): System {
  return {
    name: 'jobmill',
    store,
    setting,
    settings:
      setting === 'best' ? `${WORKERS} workers` : 'none: no options at all, 10 workers (in steps: 64)',
    version: versionOf('jobmill'),
    keeps:
      'job, payload, result and each attempt for 7 days (nothing in d-nothing-kept and k); ' +
      'an acknowledged job survives a power cut',
    open: (place, how) => open(place, setting, how),
    openSteps,
  }
}

export const systems: readonly System[] = (['postgres', 'sqlite'] as const).flatMap((store) =>
  (['default', 'best'] as const).map((setting) => system(store, setting)),
)
