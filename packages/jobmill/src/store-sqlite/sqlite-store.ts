/** The SQLite store: wires each operation of the store contract to its implementation. */
import { changeGroup, listGroups } from './groups/groups.ts'
import { BOUNDS } from '../job/defaults.ts'
import type { Platform } from '../platform/platform.ts'
import { type JobFilter, type JobPage, listWithinBudget, type PageRequest } from '../store/types/job-list.ts'
import { createLifecycle } from '../store/lifecycle.ts'
import type { Recording } from '../store/types/metrics.ts'
import { slicesOf } from '../store/batch/slices.ts'
import type { ToolStore } from '../store/store.ts'
import { NOTHING_RETAINED } from '../store/types/replies.ts'
import type { ChildrenStart } from '../store/types/step.ts'
import { alerts, deleteAlert, putAlert } from './alerts/alerts.ts'
import { counts, position, unservedKinds } from './inspect/counts.ts'
import { cancel, deleteJobs, retry, runNow } from './operate/actions.ts'
import { transfer } from './transfer/transfer.ts'
import { assign, differing, duties, slots } from './instances/duties.ts'
import { enqueue, enqueueCall } from './enqueue/enqueue.ts'
import { enqueueLarge } from './enqueue/enqueue-large.ts'
import { finish, progress, rehearse, Rehearsed } from './finish/finish.ts'
import { keyHolder } from './enqueue/dedupe.ts'
import { blocker } from './enqueue/order-queue.ts'
import { failures, get, history, results, runs } from './inspect/jobs.ts'
import type { SqliteTx } from './connection/handle.ts'
import { deregister, held, instances, register, request } from './instances/instances.ts'
import { versions } from './inspect/versions.ts'
import { admin } from './admin/admin.ts'
import { changeLimit, createLimit, declareLimits, deleteLimit, drain, limits } from './limits/limits.ts'
import { listChunk } from './inspect/list.ts'
import type { Live, StoreSettings } from './live.ts'
import { claimIfReady } from './claim/claim.ts'
import { mayStage, stage } from './claim/stage.ts'
import { mayReap, reap } from './instances/reap.ts'
import { renewIfDue } from './instances/renew.ts'
import { mayRetain, retain } from './retain/retain.ts'
import { releaseStray } from './retain/stray-keys.ts'
import { metrics, needsRollUp, record, rollUp } from './metrics/metrics.ts'
import { overrides, RESET_OVERRIDES } from './queues/overrides.ts'
import { changeQueue, declareQueues, queues } from './queues/queues.ts'
import { openStore } from './file/reopen.ts'
import {
  changeSchedule,
  createSchedule,
  declareSchedules,
  deleteSchedule,
  scheduleFailed,
  schedules,
} from './schedules/schedules.ts'
import { release, acquire } from './limits/acquire.ts'
import { children, parents } from './steps/child-rows.ts'
import { startChildren } from './steps/children.ts'
import { fork, rewind } from './steps/rewind.ts'
import { memos, listSteps } from './steps/step-rows.ts'
import { sendEvents } from './steps/send.ts'
import { recordSteps, waitForSteps } from './steps/steps.ts'
import { tick, ticks } from './schedules/tick.ts'
import { timeline } from './metrics/timeline.ts'
import { inUserTransaction } from './tx.ts'
import { addView, deleteView, views } from './views/views.ts'
import type { Look, Verb, Work } from './work.ts'

const NOTHING_STAGED = { ready: 0, more: false, queues: [] }
const NOTHING_REAPED = { instances: [], jobs: [] }

/** An estimate: how many jobs a lost instance leaves behind. */
const REAP_WEIGHT = 100

export function createSqliteStore(settings: StoreSettings): ToolStore<SqliteTx> {
  const lifecycle = createLifecycle(
    (closing) => openStore(settings, closing),
    (ended) => ended.close(),
  )
  /** At once unless a new file must be opened, so that calls are processed in their order. */
  const using = <T>(work: (live: Live) => T | Promise<T>): T | Promise<T> => {
    const live = lifecycle.use().usePatiently()
    return live instanceof Promise ? live.then(work) : work(live)
  }
  const write = async <T>(weight: number, verb: Verb<T>): Promise<T> =>
    using(({ writer }) => writer.write(weight, verb))
  const read = async <T>(look: (at: Look) => T): Promise<T> => using((live) => live.read(look))
  /**
   * Takes the write lock only if there is something to write, so that idle processes do not compete for the
   * file. The operation checks again under the lock. A read does not see queued writes, so while there are
   * any, it assumes that there is something to write.
   */
  const writeIf = async <T>(
    may: (look: Look) => boolean,
    nothing: T,
    weight: number,
    verb: Verb<T>,
  ): Promise<T> =>
    using(async ({ writer, read }) =>
      !writer.idle || (await read(may)) ? writer.write(weight, verb) : nothing,
    )
  const now = (): number => Math.floor(settings.clock())
  const withTx = <T>(tx: unknown, weight: number, verb: Verb<T>): Promise<T> => {
    if (tx === undefined) return write(weight, verb)
    // Without waiting: the user's transaction may be what has the file locked.
    const { connection, files } = lifecycle.use().use()
    files.check()
    return Promise.resolve(inUserTransaction(tx, connection, now(), verb))
  }

  return {
    name: `sqlite ${settings.givenPath ?? settings.path}`,
    callLimitBytes: BOUNDS.sqliteCallBytes,
    open: () => lifecycle.open(),
    close: () => lifecycle.close(),
    enqueue: async (jobs, options = {}) => {
      const { tx, mayRepeat = false, directDispatch } = options
      const slices = tx === undefined && settings.path !== ':memory:' ? slicesOf(jobs) : [jobs]
      if (slices.length > 1) return using((live) => enqueueLarge(settings, live, slices))
      const isDispatched = directDispatch !== undefined && tx === undefined && !mayRepeat
      const call = isDispatched ? (work: Work) => enqueue(work, jobs, directDispatch) : enqueueCall(jobs)
      return withTx(tx, jobs.length, call)
    },
    finish: async (items, { tx, rehearse: isRehearsal } = {}) => {
      if (isRehearsal !== true || tx !== undefined)
        return withTx(tx, items.length, (work) => finish(work, items))
      return write(items.length, (work) => rehearse(work, items)).catch((error: unknown) => {
        if (error instanceof Rehearsed) return error.replies
        throw error
      })
    },
    stage: async (limit) => writeIf(mayStage, NOTHING_STAGED, limit, (work) => stage(work, limit)),
    claim: async (request) => using((live) => claimIfReady(live, request)),
    progress: async (items) => write(items.length, (work) => progress(work, items)),
    cancel: async (ids, reason) => write(ids.length, (work) => cancel(work, ids, reason)),
    retry: async (ids, payloads) => write(ids.length, (work) => retry(work, ids, payloads)),
    runNow: async (ids) => write(ids.length, (work) => runNow(work, ids)),
    delete: async (ids) => write(ids.length, (work) => deleteJobs(work, ids)),
    retain: async (request) => {
      // Once per pass over all queues.
      if ((request.queues?.length ?? 0) === 0) await using(releaseStray)
      const may = (look: Look): boolean => mayRetain(look, request)
      return writeIf(may, NOTHING_RETAINED, request.limit, (work) => retain(work, request))
    },
    // Counters are updated in place, so there is nothing to fold.
    fold: async () => using(() => 0),
    get: async (ids) => read((look) => get(look, ids)),
    results: async (ids) => read((look) => results(look, ids)),
    history: async (id) => read((look) => history(look, id)),
    list: async (filter, page) => using((live) => list(settings.platform, live, filter, page)),
    counts: async () => read(counts),
    now: async () => read(({ now }) => now),
    queues: {
      declare: async (declared) => write(declared.length, (work) => declareQueues(work, declared)),
      change: async (name, patch, by) => write(1, (work) => changeQueue(work, name, patch, by)),
      list: async () => read(queues),
    },
    instances: {
      register: async (instance) => write(1, (work) => register(work, instance)),
      renew: async (request) => using((live) => renewIfDue(live, request)),
      deregister: async (instance) => write(1, (work) => deregister(work, instance)),
      reap: async (options) => writeIf(mayReap, NOTHING_REAPED, REAP_WEIGHT, (work) => reap(work, options)),
      assign: async (changes) => {
        const may = (look: Look): boolean => differing(look, changes).length > 0
        return writeIf(may, 0, changes.length, (work) => assign(work, changes))
      },
      request: async (instance, what, by) => write(1, (work) => request(work, instance, what, by)),
      list: async () => read(instances),
      held: async (instance) => read((look) => held(look, instance)),
      duties: async () => read(duties),
      slots: async () => read(slots),
    },
    overrides: {
      reset: async (what, name, options) =>
        (await write(1, (work) => RESET_OVERRIDES[what](work, name, options))).toSorted(),
      list: async () => read(overrides),
    },
    inspect: {
      holders: async (keys) => read(({ sql, now }) => keys.map((key) => keyHolder(sql, key, now) ?? null)),
      failures: async (ids) => read((look) => failures(look, ids)),
      runs: async (ids, endedFrom) => read((look) => runs(look, ids, endedFrom)),
      unservedKinds: async () => read(unservedKinds),
      versions: async () => read(versions),
      position: async (id, kinds) => read((look) => position(look, id, kinds)),
      blocker: async (id) => read((look) => blocker(look, id)),
    },
    schedules: {
      declare: async (declared) => write(declared.length, (work) => declareSchedules(work, declared)),
      create: async (name, definition, by, named = []) =>
        write(1, (work) => createSchedule(work, name, { definition, named }, by)),
      change: async (name, patch, by) => write(1, (work) => changeSchedule(work, name, patch, by)),
      delete: async (name, by) => write(1, (work) => deleteSchedule(work, name, by)),
      tick: async (planned) => write(planned.length, (work) => tick(work, planned)),
      failed: async (name, error) => write(1, (work) => scheduleFailed(work, name, error)),
      list: async () => read(schedules),
      ticks: async (schedule, limit) => read((look) => ticks(look, schedule, limit)),
    },
    groups: {
      change: async (queue, group, patch, by) =>
        write(1, (work) => changeGroup(work, queue, group, patch, by)),
      list: async (queue, request) => read((look) => listGroups(look, queue, request)),
    },
    limits: {
      declare: async (declared, queues = []) =>
        write(declared.length + queues.length, (work) => {
          declareLimits(work, declared)
          declareQueues(work, queues)
        }),
      create: async (name, limit, by) => write(1, (work) => createLimit(work, name, limit, by)),
      change: async (name, limit, by) => write(1, (work) => changeLimit(work, name, limit, by)),
      delete: async (name) => write(1, (work) => deleteLimit(work, name)),
      acquire: async (items) => write(items.length, (work) => acquire(work, items)),
      release: async (items) => write(items.length, (work) => release(work, items)),
      drain: async (name, forMs, key) => write(1, (work) => drain(work, name, forMs, key)),
      list: async () => read(limits),
    },
    alerts: {
      list: async () => read(alerts),
      put: async (given) => write(1, (work) => putAlert(work, given)),
      delete: async (name) => write(1, (work) => deleteAlert(work, name)),
    },
    views: {
      list: async () => read(views),
      add: async (view) => write(1, (work) => addView(work, view)),
      delete: async (name) => write(1, (work) => deleteView(work, name)),
    },
    metrics: {
      rollUp: async (limit) => writeIf(needsRollUp, 0, limit, (work) => rollUp(work, limit)),
      record: async (recording) => write(weightOf(recording), (work) => record(work, recording)),
      read: async (query) => read((look) => metrics(look, query)),
      timeline: async (query) => read((look) => timeline(look, query)),
    },
    steps: {
      record: async (items, { tx } = {}) =>
        withTx(tx, items.length, (work) => recordSteps(work, items, tx !== undefined)),
      start: async (items) => write(weightOfChildren(items), (work) => startChildren(work, items)),
      wait: async (items) => write(items.length, (work) => waitForSteps(work, items)),
      rewind: async (id, place) => write(1, (work) => rewind(work, id, place)),
      fork: async (id, place, job) => write(1, (work) => fork(work, id, place, job)),
      children: async (id, of) => read(({ sql }) => children(sql, id, of)),
      parents: async (ids) => read(({ sql }) => parents(sql, ids)),
      read: async (ids) => read(({ sql, now }) => ids.map((id) => memos(sql, id, now))),
      list: async (id) => read(({ sql, now }) => listSteps(sql, id, now)),
      send: async (items, { tx } = {}) => withTx(tx, items.length, (work) => sendEvents(work, items)),
    },
    notifier: {
      wait: async (options) => using(({ notifier }) => notifier.wait(options)),
      notify: (names) => lifecycle.opened?.last.notifier.notify(names),
      // Nothing to forward: every waiter polls on its own.
      forward: () => {},
    },
    tools: { ...admin(settings), ...transfer(settings.path, read, write) },
  }
}

const weightOfChildren = (items: readonly ChildrenStart[]): number =>
  items.reduce((sum, { jobs }) => sum + jobs.length, 0)

/** Roughly how many rows it writes. */
function weightOf({ deltas, own, events }: Recording): number {
  return deltas.length + own.length + events.length
}

function list(platform: Platform, { read }: Live, filter: JobFilter, page: PageRequest): Promise<JobPage> {
  return listWithinBudget(platform, filter, page, async (from, rows) => {
    const chunk = await read((look) => listChunk(look, filter, from, rows))
    // Yields to the event loop between two chunks.
    await new Promise<void>((resolve) => platform.nextTurn(resolve))
    return chunk
  })
}
