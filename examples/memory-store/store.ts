// A minimal store: jobs in memory, without schedules, limits, metrics, a notifier and transactions. The page
// docs/internals/write-a-store.md walks through it.
import { type Store, storeClosed } from 'jobmill/store'
import { type Database, memoryDatabase } from './database.ts'
import * as instances from './instances.ts'
import * as jobs from './jobs.ts'
import * as queues from './queues.ts'
import * as reads from './reads.ts'

export interface MemoryStoreOptions {
  /** Several handles may share a database, as several processes share a server. */
  readonly database?: Database
  /** For tests. Default: the clock of this process. */
  readonly clock?: () => number
}

export function memoryStore(options: MemoryStoreOptions = {}): Store<never> {
  const { database = memoryDatabase(), clock: now = Date.now } = options
  let isOpen = false
  const db = (): Database => {
    if (!isOpen) throw storeClosed()
    return database
  }
  return {
    name: 'memory',
    open: async () => void (isOpen = true),
    close: async () => void (isOpen = false),
    enqueue: async (items) => jobs.enqueue(db(), now(), items),
    stage: async (limit) => jobs.stage(db(), now(), limit),
    claim: async (request) => jobs.claim(db(), now(), request),
    // A rehearsal writes to a copy.
    finish: async (items, { rehearse = false } = {}) =>
      jobs.finish(rehearse ? structuredClone(db()) : db(), now(), items),
    progress: async (items) => jobs.progress(db(), items),
    cancel: async (ids, reason) => jobs.cancel(db(), now(), ids, reason),
    retry: async (ids, payloads) => jobs.retry(db(), now(), ids, payloads),
    runNow: async (ids) => jobs.runNow(db(), now(), ids),
    delete: async (ids) => jobs.remove(db(), ids),
    get: async (ids) => reads.get(db(), ids),
    results: async (ids) => reads.results(db(), ids),
    history: async (id) => reads.history(db(), id),
    list: async (filter, page) => reads.list(db(), filter, page),
    counts: async () => reads.counts(db(), now()),
    retain: async (request) => reads.retain(db(), now(), request),
    // Counts are computed from the jobs, so there are no counters to fold.
    fold: async () => (db(), 0),
    now: async () => (db(), now()),
    queues: {
      declare: async (declared) => queues.declareQueues(db(), declared),
      change: async (name, patch, by) => queues.changeQueue(db(), now(), name, patch, by ?? null),
      list: async () => queues.queues(db(), now()),
    },
    instances: {
      register: async (instance) => instances.register(db(), now(), instance),
      renew: async (request) => instances.renew(db(), now(), request),
      deregister: async (id) => instances.deregister(db(), now(), id),
      reap: async (request) => instances.reap(db(), now(), request),
      request: async (id, what, by) => instances.request(db(), now(), id, what, by),
      list: async () => instances.instances(db(), now()),
      versions: async () => instances.versions(db(), now()),
      held: async (id) => instances.held(db(), now(), id),
      assign: async (changes) => instances.assign(db(), now(), changes),
      slots: async () => instances.slots(db()),
      duties: async () => instances.duties(db(), now()),
    },
    overrides: {
      list: async () => queues.overrides(db()),
      reset: async (what, name, options) => queues.resetOverrides(db(), what, name, options),
    },
    inspect: {
      failures: async (ids) => reads.failures(db(), ids),
      holders: async (keys) => keys.map((key) => jobs.holderOf(db(), now(), key)),
      runs: async (ids, endedFrom) => reads.runs(db(), ids, endedFrom),
      position: async (id, kinds) => reads.position(db(), id, kinds),
      blocker: async (id) => reads.blocker(db(), id),
      unservedKinds: async () => reads.unservedKinds(db(), now()),
    },
  }
}
