/** The PostgreSQL store: connects every verb to its implementation. */
import { transfer } from './transfer/transfer.ts'
import { admin } from './admin/admin.ts'
import { createLifecycle } from '../store/lifecycle.ts'
import type { ToolStore } from '../store/store.ts'
import { position } from './inspect/position.ts'
import { cancel } from './operate/cancel.ts'
import { claim } from './claim/claim.ts'
import { type Connection, connect } from './connection/connection.ts'
import { loadPg } from './connection/driver.ts'
import type { Context } from './context.ts'
import { counts } from './queues/counts.ts'
import { deleteJobs } from './operate/delete.ts'
import { duties } from './instances/duties.ts'
import { enqueue } from './enqueue/enqueue.ts'
import { failures } from './inspect/failures.ts'
import { finish } from './finish/finish.ts'
import { fold } from './queues/fold.ts'
import { get } from './inspect/get.ts'
import { history } from './inspect/history.ts'
import { deregister, held, instances, register } from './instances/instances.ts'
import { resources } from './admin/resources.ts'
import { changeLimit, createLimit, declareLimits } from './limits/limit-settings.ts'
import { deleteLimit, drain, limits } from './limits/limits.ts'
import { list } from './inspect/list.ts'
import { metrics } from './metrics/metrics.ts'
import { withTrueNames } from './names/names-changed.ts'
import { type PostgresOptions, resolveOptions } from './options.ts'
import { release } from './limits/permits.ts'
import { now } from './connection/now.ts'
import { progress } from './finish/progress.ts'
import { overrides, resetOverrides } from './queues/overrides.ts'
import { changeQueue, declareQueues, queues } from './queues/queues.ts'
import { reap } from './instances/reap.ts'
import { record } from './metrics/record.ts'
import { renew } from './instances/renew.ts'
import { holders } from './enqueue/holders.ts'
import { results } from './inspect/results.ts'
import { retain } from './retain/retain.ts'
import { retry } from './operate/retry.ts'
import { rollUp } from './metrics/roll-up.ts'
import { runNow } from './operate/run-now.ts'
import {
  changeSchedule,
  createSchedule,
  declareSchedules,
  deleteSchedule,
  scheduleFailed,
  schedules,
} from './schedules/schedules.ts'
import { assign, slots } from './instances/slots.ts'
import { stage } from './claim/stage.ts'
import { acquire } from './limits/acquire.ts'
import { tick, ticks } from './schedules/tick.ts'
import { timeline } from './metrics/timeline.ts'
import type { Tx } from './tx.ts'
import { unservedKinds } from './inspect/unserved-kinds.ts'
import { inSchema, openStore } from './open-store.ts'

/** How long `close` waits for statements in flight. */
const CLOSE_MS = 5_000

export function postgres(url: string, options?: PostgresOptions): ToolStore<Tx>
export function postgres(options: PostgresOptions): ToolStore<Tx>
export function postgres(first: string | PostgresOptions, options?: PostgresOptions): ToolStore<Tx> {
  loadPg()
  const settings = resolveOptions(first, options)
  let connection: Connection | undefined
  const lifecycle = createLifecycle(
    () => openStore(settings, (connection = connect(settings))),
    async ({ notifier, commits, context }) => {
      commits.close()
      await notifier.close()
      await context.connection.close()
    },
  )
  // An error in a user's transaction has aborted it, so nothing is retried there.
  const run = <T>(verb: (context: Context) => Promise<T>, tx?: Tx): Promise<T> =>
    lifecycle.run(({ context, recovery }) =>
      recovery.run(() => withTrueNames(context.names, () => verb(context)), tx !== undefined),
    )

  /**
   * A connection or a statement that the database never answers would keep the process alive until its
   * deadline, also while the store is opening.
   */
  async function close(): Promise<void> {
    const last = connection
    const timer = settings.platform.timer(CLOSE_MS, () => last?.cut())
    await lifecycle.close().finally(() => timer.cancel())
  }

  return {
    name: settings.name,
    open: () => lifecycle.open(),
    close,
    enqueue: (jobs, how) => run((context) => enqueue(context, jobs, how), how?.tx),
    stage: (limit) => run((context) => stage(context, limit)),
    claim: (request) => run((context) => claim(context, request)),
    finish: (items, how) => run((context) => finish(context, items, how), how?.tx),
    progress: (items) => run((context) => progress(context, items)),
    cancel: (ids, reason) => run((context) => cancel(context, ids, reason)),
    retry: (ids) => run((context) => retry(context, ids)),
    runNow: (ids) => run((context) => runNow(context, ids)),
    delete: (ids) => run((context) => deleteJobs(context, ids)),
    retain: (request) => run((context) => retain(context, request)),
    fold: (limit) => run((context) => fold(context, limit)),
    get: (ids) => run((context) => get(context, ids)),
    results: (ids) => run((context) => results(context, ids)),
    history: (id) => run((context) => history(context, id)),
    list: (filter, page) => run((context) => list(context, filter, page)),
    counts: () => run((context) => counts(context)),
    now: () => run(now),
    queues: {
      declare: (wanted) => run((context) => declareQueues(context, wanted)),
      change: (name, patch, by) => run((context) => changeQueue(context, name, patch, by)),
      list: () => run((context) => queues(context)),
    },
    instances: {
      register: (instance) => run((context) => register(context, instance)),
      renew: (request) => run((context) => renew(context, request)),
      deregister: (instance) => run((context) => deregister(context, instance)),
      reap: (how) => run((context) => reap(context, how)),
      assign: (wanted) => run((context) => assign(context, wanted)),
      list: () => run((context) => instances(context)),
      held: (instance) => run((context) => held(context, instance)),
      duties: () => run((context) => duties(context)),
      slots: () => run((context) => slots(context)),
    },
    overrides: {
      reset: (what, name, options) => run((context) => resetOverrides(context, what, name, options)),
      list: () => run((context) => overrides(context)),
    },
    inspect: {
      holders: (keys) => run((context) => holders(context, keys)),
      failures: (ids) => run((context) => failures(context, ids)),
      unservedKinds: () => run((context) => unservedKinds(context)),
      position: (id, kinds) => run((context) => position(context, id, kinds)),
    },
    schedules: {
      declare: (wanted) => run((context) => declareSchedules(context, wanted)),
      create: (name, definition, by, named) =>
        run((context) => createSchedule(context, name, definition, by, named)),
      change: (name, patch, by) => run((context) => changeSchedule(context, name, patch, by)),
      delete: (name, by) => run((context) => deleteSchedule(context, name, by)),
      tick: (items) => run((context) => tick(context, items)),
      failed: (name, error) => run((context) => scheduleFailed(context, name, error)),
      list: () => run((context) => schedules(context)),
      ticks: (schedule, limit) => run((context) => ticks(context, schedule, limit)),
    },
    limits: {
      declare: (wanted) => run((context) => declareLimits(context, wanted)),
      create: (name, wanted, by) => run((context) => createLimit(context, name, wanted, by)),
      change: (name, changes, by) => run((context) => changeLimit(context, name, changes, by)),
      delete: (name) => run((context) => deleteLimit(context, name)),
      acquire: (items) => run((context) => acquire(context, items)),
      release: (items) => run((context) => release(context, items)),
      drain: (name, forMs, key) => run((context) => drain(context, name, forMs, key)),
      list: () => run((context) => limits(context)),
    },
    metrics: {
      rollUp: (limit) => run((context) => rollUp(context, limit)),
      record: (recording) => run((context) => record(context, recording)),
      read: (query) => run((context) => metrics(context, query)),
      timeline: (query) => run((context) => timeline(context, query)),
    },
    notifier: {
      wait: async (how) => lifecycle.use().notifier.wait(how),
      notify: (names) => lifecycle.opened?.notifier.notify(names.map((queue) => ({ queue, jobs: null }))),
      forward: (wakeUp) => lifecycle.opened?.notifier.forward(wakeUp),
      remote: {
        standBy: (offer) => lifecycle.opened?.notifier.standBy(offer) === true,
        receive: (instance, take) => lifecycle.use().notifier.receive(instance, take),
      },
    },
    tools: {
      ...admin(settings, inSchema(settings.schema)),
      ...transfer(run),
      resources: () => run(resources),
    },
  }
}
