/** The PostgreSQL store: connects every verb to its implementation. */
import { transfer } from './transfer/transfer.ts'
import { alerts, deleteAlert, putAlert } from './alerts/alerts.ts'
import { admin } from './admin/admin.ts'
import { createLifecycle } from '../store/lifecycle.ts'
import type { ReadOptions } from '../store/types/job-list.ts'
import type { ToolStore } from '../store/store.ts'
import { blocker, position, unservedKinds } from './inspect/position.ts'
import { cancel } from './operate/cancel.ts'
import { claim } from './claim/claim.ts'
import { connect, type Connection } from './connection/connection.ts'
import { loadPg } from './connection/driver.ts'
import type { Context } from './context.ts'
import { counts, fold } from './queues/counts.ts'
import { deleteJobs } from './operate/delete.ts'
import { assign, duties, slots } from './instances/duties.ts'
import { enqueue } from './enqueue/enqueue.ts'
import { failures } from './inspect/failures.ts'
import { runs } from './inspect/runs.ts'
import { finish } from './finish/finish.ts'
import { get, results } from './inspect/get.ts'
import { history } from './inspect/history.ts'
import { deregister, held, instances, register, request } from './instances/instances.ts'
import { versions } from './inspect/versions.ts'
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
import { holders } from './enqueue/keyed.ts'
import type { PostgresNotifier } from './notifier/notifier.ts'
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
import { stage } from './claim/stage.ts'
import { acquire } from './limits/acquire.ts'
import { tick, ticks } from './schedules/tick.ts'
import { children, parents, startChildren } from './steps/children.ts'
import { listSteps, memos } from './steps/read.ts'
import { recordSteps, waitForSteps } from './steps/record.ts'
import { fork, rewind } from './steps/rewind.ts'
import { sendEvents } from './steps/send.ts'
import { changeGroup, groups } from './groups/groups.ts'
import { timeline } from './metrics/timeline.ts'
import type { Tx } from './tx.ts'
import { addView, deleteView, views } from './views/views.ts'
import { inSchema, openStore } from './open-store.ts'

/**
 * Deleting a job takes 5 to 12 µs of CPU, and a call 5 ms more, whatever its size. No other statement waits
 * for the rows that a call locks, so it may be large.
 */
const RETAIN_BATCH = 4_000

/** How long `close` waits for statements in flight. */
const CLOSE_MS = 5_000

type Verb = (context: Context, ...args: never[]) => Promise<unknown>
/** A verb without its context. */
type Bound<V> = V extends (context: Context, ...args: infer A) => infer R ? (...args: A) => R : never

export function postgres(url: string, options?: PostgresOptions): ToolStore<Tx>
export function postgres(options: PostgresOptions): ToolStore<Tx>
export function postgres(first: string | PostgresOptions, options?: PostgresOptions): ToolStore<Tx> {
  loadPg()
  const settings = resolveOptions(first, options)
  let connection: Connection | undefined
  const lifecycle = createLifecycle(
    () => openStore(settings, (connection = connect(settings))),
    async ({ context: { commits, notifier, connection }, replica }) => {
      commits.close()
      await notifier.close()
      await replica?.close()
      await connection.close()
    },
  )
  // An error in a user's transaction has aborted it, so nothing is retried there.
  const run = <T>(verb: (context: Context) => Promise<T>, tx?: Tx): Promise<T> =>
    lifecycle.run(({ context, recovery }) =>
      recovery.run(() => withTrueNames(context.names, () => verb(context)), tx !== undefined),
    )

  /**
   * A caller may read back what it wrote or read here, even if the reply was lost. From now on, a replica
   * must have it.
   */
  const seen = <T>(verb: (context: Context) => Promise<T>, tx?: Tx): Promise<T> => {
    const replica = lifecycle.opened?.replica ?? null
    const reply = run(verb, tx)
    return replica === null ? reply : reply.finally(() => replica.saw())
  }

  /** A replica may answer reads that may lag. */
  const read = <T>(verb: (context: Context) => Promise<T>, how?: ReadOptions): Promise<T> => {
    const replica = lifecycle.opened?.replica ?? null
    if (replica === null) return run(verb)
    if (how?.mayLag !== true) return seen(verb)
    return lifecycle.run(({ context }) =>
      replica.read(
        (connection) => verb({ ...context, connection }),
        () => run(verb),
      ),
    )
  }

  /** Verbs without options. */
  function bind<V extends Record<string, Verb>>(verbs: V, how = run): { [K in keyof V]: Bound<V[K]> } {
    const bound: unknown = Object.fromEntries(
      Object.entries(verbs).map(([name, verb]) => [
        name,
        (...args: never[]) => how((context) => verb(context, ...args)),
      ]),
    )
    return bound as { [K in keyof V]: Bound<V[K]> }
  }

  /**
   * A connection or a statement that the database never answers would keep the process alive until its
   * deadline, even while the store is opening.
   */
  async function close(): Promise<void> {
    const last = connection
    const replica = lifecycle.opened?.replica
    const timer = settings.platform.timer(CLOSE_MS, () => {
      last?.cut()
      replica?.cut()
    })
    await lifecycle.close().finally(() => timer.cancel())
  }

  const notifier = (): PostgresNotifier | undefined => lifecycle.opened?.context.notifier

  return {
    name: settings.name,
    retainBatch: RETAIN_BATCH,
    open: () => lifecycle.open(),
    close,
    ...bind({ stage, claim, progress, retain, fold, history, now }),
    enqueue: (jobs, how) => seen((context) => enqueue(context, jobs, how), how?.tx),
    finish: (items, how) => run((context) => finish(context, items, how), how?.tx),
    ...bind({ cancel, retry, runNow, delete: deleteJobs }, seen),
    get: (ids, how) => read((context) => get(context, ids), how),
    results: (ids, how) => read((context) => results(context, ids), how),
    list: (filter, page, how) => read((context) => list(context, filter, page), how),
    counts: (how) => read(counts, how),
    queues: bind({ declare: declareQueues, change: changeQueue, list: queues }),
    instances: {
      ...bind({
        register,
        renew,
        deregister,
        reap,
        request,
        assign,
        list: instances,
        held,
        duties,
        slots,
      }),
    },
    overrides: bind({ reset: resetOverrides, list: overrides }),
    inspect: {
      ...bind({ holders, position, blocker }),
      failures: (ids, how) => read((context) => failures(context, ids), how),
      runs: (ids, endedFrom, how) => read((context) => runs(context, ids, endedFrom), how),
      unservedKinds: (how) => read(unservedKinds, how),
      versions: (how) => read(versions, how),
    },
    schedules: bind({
      declare: declareSchedules,
      create: createSchedule,
      change: changeSchedule,
      delete: deleteSchedule,
      tick,
      failed: scheduleFailed,
      list: schedules,
      ticks,
    }),
    groups: {
      ...bind({ change: changeGroup }),
      list: (queue, request, how) => read((context) => groups(context, queue, request), how),
    },
    limits: bind({
      declare: declareLimits,
      create: createLimit,
      change: changeLimit,
      delete: deleteLimit,
      acquire,
      release,
      drain,
      list: limits,
    }),
    alerts: bind({ list: alerts, put: putAlert, delete: deleteAlert }),
    views: bind({ list: views, add: addView, delete: deleteView }),
    metrics: {
      ...bind({ rollUp, record }),
      read: (query, how) => read((context) => metrics(context, query), how),
      timeline: (query, how) => read((context) => timeline(context, query), how),
    },
    steps: {
      record: (items, how) => run((context) => recordSteps(context, items, how), how?.tx),
      wait: (items) => run((context) => waitForSteps(context, items)),
      ...bind({ start: startChildren, rewind, fork, children, parents }),
      read: (ids) => run((context) => memos(context, ids)),
      list: (id, how) => read((context) => listSteps(context, id), how),
      send: (items, how) => seen((context) => sendEvents(context, items, how), how?.tx),
    },
    notifier: {
      wait: async (how) => lifecycle.use().context.notifier.wait(how),
      notify: (names) => notifier()?.notify(names.map((queue) => ({ queue, jobs: null }))),
      isListening: () => notifier()?.isListening() === true,
      forward: (wakeUp) => notifier()?.forward(wakeUp),
      remote: {
        offerWorker: (offer) => notifier()?.offerWorker(offer) === true,
        receive: (instance, take) => lifecycle.use().context.notifier.receive(instance, take),
      },
    },
    tools: {
      ...admin(settings, inSchema(settings.schema)),
      ...transfer(run),
      resources: () => run(resources),
    },
  }
}
