// The store: its verbs, the settings of queues, and the reads.
import {
  countRows,
  type DeclaredQueue,
  jobRecord,
  jobResult,
  limitUnknown,
  listRows,
  overrideQueue,
  type QueuePatch,
  queueRecord,
  type QueueRecord,
  type QueueSettings,
  type QueueSources,
  queueUnknown,
  readDuties,
  type Store,
  storeClosed,
  writeProgress,
  writeSources,
} from 'jobmill/store'
import { byName, type Database, ensureQueue, type Job, memoryDatabase, runsOf } from './database.ts'
import * as instances from './instances.ts'
import * as jobs from './jobs.ts'

export interface MemoryStoreOptions {
  /** Shared by several stores, as connections share a database. Default: a new one. */
  readonly database?: Database
  readonly clock?: () => number
}

export function memoryStore({
  database = memoryDatabase(),
  clock = Date.now,
}: MemoryStoreOptions = {}): Store<never> {
  let isOpen = false
  const db = (): Database => {
    if (!isOpen) throw storeClosed()
    return Object.assign(database, { now: clock() })
  }
  /** A verb: it runs synchronously, so it is one transaction at one time. */
  const on =
    <Args extends unknown[], Reply>(act: (db: Database, ...args: Args) => Reply) =>
    async (...args: Args): Promise<Reply> =>
      act(db(), ...args)
  return {
    name: 'memory',
    open: async () => void (isOpen = true),
    close: async () => void (isOpen = false),
    enqueue: async (items) => jobs.enqueue(db(), items),
    stage: on(jobs.stage),
    claim: on(jobs.claim),
    // A rehearsal writes to a copy.
    finish: async (items, { rehearse = false } = {}) =>
      jobs.finish(rehearse ? structuredClone(db()) : db(), items),
    progress: on((db, items) => items.map((item) => writeProgress(db.jobs.get(item.id), item))),
    cancel: on(jobs.cancel),
    retry: on(jobs.retry),
    runNow: on(jobs.runNow),
    delete: on(jobs.remove),
    get: async (ids) => read(db(), ids, (job) => jobRecord(job, waitsFor(job))),
    results: async (ids) => read(db(), ids, jobResult),
    history: on((db, id) =>
      (db.jobs.get(id)?.attempts ?? []).map(({ wentTo: _, ...attempt }) => ({
        ...attempt,
        version: versionOf(db, attempt.instance),
      })),
    ),
    list: async (filter, page) =>
      listRows(db().jobs.values(), filter, page, {
        waitsFor,
        versionOf: (instance) => versionOf(database, instance),
      }),
    counts: async () => countRows(db().queues.keys(), [...database.jobs.values()], database.now),
    retain: on(jobs.retain),
    // Counts are computed from the jobs, so there are no counters to fold.
    fold: on(() => 0),
    now: on(({ now }) => now),
    queues: {
      declare: on(declareQueues),
      change: on(changeQueue),
      list: on((db) => byName(db.queues).map(([name, queue]) => queueRecord(name, queue, db.now))),
    },
    instances: {
      register: on(instances.register),
      renew: on(instances.renew),
      deregister: on(instances.deregister),
      reap: on(instances.reap),
      request: on(instances.request),
      list: on((db) => byName(db.instances).map(([, instance]) => instances.recordOf(db, instance))),
      held: on((db, instance) =>
        runsOf(db, instance).map(({ job: { id }, run: { token, startedAt } }) => ({
          id,
          token,
          ageMs: db.now - startedAt,
        })),
      ),
      assign: on(instances.assign),
      slots: on(({ slots }) => [...slots]),
      duties: on(({ duties, now }) => readDuties(duties, now)),
    },
  }
}

/** One reply for each id, in the order of the ids. */
const waitsFor = ({ place }: Job) => (place === null ? null : 'order')

function read<T>(db: Database, ids: readonly string[], of: (job: Job) => T): (T | null)[] {
  return ids.map((id) => {
    const job = db.jobs.get(id)
    return job === undefined ? null : of(job)
  })
}

const versionOf = ({ instances }: Database, instance: string | null): string | null =>
  instances.get(instance ?? '')?.version ?? null

function declareQueues(db: Database, declared: readonly DeclaredQueue[]): void {
  // Check everything before the first write: a call is applied as a whole or not at all.
  for (const { settings } of declared) refuseLimit(settings)
  for (const { name, settings: code, unlessDeclared = false } of declared) {
    const { sources } = ensureQueue(db, name)
    if (code !== null && !(unlessDeclared && sources.code !== null)) write(db, name, { ...sources, code })
  }
}

function changeQueue(db: Database, name: string, { settings, coolMs }: QueuePatch, by?: string): QueueRecord {
  const queue = db.queues.get(name)
  if (queue === undefined) throw queueUnknown(name)
  refuseLimit(settings)
  write(db, name, overrideQueue(queue.sources, settings, { by: by ?? null, at: db.now }))
  if (coolMs !== null) queue.coolUntil = db.now + coolMs
  db.settingsVersion += 1
  return queueRecord(name, queue, db.now)
}

function write(db: Database, name: string, sources: QueueSources): void {
  if (writeSources(ensureQueue(db, name), sources)) db.settingsVersion += 1
}

/** This store has no limits, so every limit is unknown. */
function refuseLimit(settings: Partial<QueueSettings> | null): void {
  if (typeof settings?.limit === 'string') throw limitUnknown(settings.limit)
}
