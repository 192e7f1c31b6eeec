/**
 * The executable contract: an in-memory store that follows docs/internals/store-contract.md as simply as
 * possible. Real stores are compared with it. It prefers simplicity to speed and persists nothing.
 */
import { type FullStore, JobmillError, readDuties, wakeAll } from 'jobmill/store'
import { withCheckedArguments } from '../checked-arguments.ts'
import { deleteAlert, putAlert, readAlerts } from './alerts.ts'
import * as read from './inspect/read.ts'
import { deregister, reap, register, renew, request } from './instances/instances.ts'
import { assign } from './instances/slots.ts'
import { versions } from './inspect/versions.ts'
import { claim } from './jobs/claim.ts'
import { changeGroup, listGroups } from './jobs/groups.ts'
import { blocker } from './jobs/order-key.ts'
import { enqueue, enqueueWithDirectDispatch } from './jobs/enqueue.ts'
import { finish, progress } from './jobs/finish.ts'
import { cancel, remove, retry, rewind, runNow } from './jobs/operate.ts'
import { stage } from './jobs/stage.ts'
import {
  children,
  fork,
  listSteps,
  memos,
  parents,
  recordSteps,
  sendEvents,
  startChildren,
  waitForSteps,
} from './jobs/steps.ts'
import * as limits from './limits.ts'
import { metrics, record, rollUp, timeline } from './metrics.ts'
import { lookBefore, Notifications, wakeUpsSince } from './notifier.ts'
import { readOverrides, resetOverrides } from './overrides.ts'
import { changeQueue, declareQueues } from './queues.ts'
import { retain } from './retain.ts'
import * as schedules from './schedules.ts'
import { emptyState, type OracleState } from './state.ts'
import { addView, deleteView, readViews } from './views.ts'

/** Shared by several handles, as several connections share a database. */
export interface OracleDatabase {
  state: OracleState
  readonly notifier: Notifications
}

/** A copy of the state that replaces it when the transaction commits. */
export interface OracleTx {
  readonly state: OracleState
}

export function oracleDatabase(): OracleDatabase {
  return { state: emptyState(), notifier: new Notifications() }
}

export async function oracleTransaction<T>(
  database: OracleDatabase,
  work: (tx: OracleTx) => Promise<T>,
  end: 'commit' | 'rollback',
): Promise<T> {
  const tx = { state: structuredClone(database.state) }
  const result = await work(tx)
  if (end === 'commit') database.state = tx.state
  return result
}

/** A verb without its handle. It runs synchronously, so `state.now` is the time of this call throughout. */
type Act<Args extends unknown[], Reply> = (state: OracleState, ...args: Args) => Reply

export function oracle(
  database: OracleDatabase,
  { clock }: { readonly clock: () => number },
): FullStore<OracleTx> {
  let isOpen = false
  const state = (tx?: OracleTx): OracleState => {
    if (!isOpen) throw new JobmillError('STORE_CLOSED', 'the store is not open')
    if (tx !== undefined && typeof tx.state !== 'object')
      throw new JobmillError('TX_INVALID', 'is not a transaction', {
        field: 'tx',
        fix: 'Pass the tx that oracleTransaction gives to its callback',
      })
    return Object.assign(tx?.state ?? database.state, { now: clock() })
  }
  /**
   * Runs a verb that may make jobs ready or free permits, and notifies. A user transaction does not notify,
   * because its commit is not observed.
   */
  const notify = <Reply>(act: Act<[], Reply>, tx?: OracleTx): Reply => {
    const before = lookBefore(state(tx))
    const reply = act(state(tx))
    if (tx === undefined) database.notifier.notify(wakeUpsSince(before, state()))
    return reply
  }
  const on =
    <Args extends unknown[], Reply>(act: Act<Args, Reply>) =>
    async (...args: Args): Promise<Reply> =>
      act(state(), ...args)
  const notifying =
    <Args extends unknown[], Reply>(act: Act<Args, Reply>) =>
    async (...args: Args): Promise<Reply> =>
      notify((state) => act(state, ...args))
  const room = database.notifier.join()
  return withCheckedArguments({
    name: 'oracle',
    open: async () => void (isOpen = true),
    close: async () => {
      isOpen = false
      database.notifier.leave(room)
    },
    enqueue: async (jobs, { tx, mayRepeat, directDispatch } = {}) =>
      tx !== undefined || mayRepeat === true || directDispatch === undefined
        ? notify((state) => enqueue(state, jobs), tx)
        : notify((state) => enqueueWithDirectDispatch(state, jobs, directDispatch)),
    stage: notifying(stage),
    claim: on(claim),
    finish: async (items, { tx, rehearse } = {}) => {
      const copy = rehearse === true && tx === undefined ? { state: structuredClone(state()) } : tx
      return notify((state) => finish(state, items), copy)
    },
    progress: on(progress),
    cancel: on(cancel),
    retry: notifying(retry),
    runNow: notifying(runNow),
    delete: on(remove),
    retain: on(retain),
    // There are no counter rows: counts are computed from the jobs.
    fold: on(() => 0),
    get: on(read.get),
    results: on(read.results),
    history: on(read.history),
    list: async (filter, page) => read.list(state(), filter, page),
    counts: on(read.counts),
    now: on(({ now }) => now),
    queues: {
      declare: on(declareQueues),
      change: on(changeQueue),
      list: on(read.queues),
    },
    instances: {
      register: on(register),
      renew: on(renew),
      deregister: notifying(deregister),
      reap: notifying(reap),
      request: on(request),
      assign: on(assign),
      list: on(read.instances),
      held: on(read.held),
      duties: on(({ duties, now }) => readDuties(duties, now)),
      slots: on(({ slots }) => [...slots]),
    },
    overrides: { reset: on(resetOverrides), list: on(readOverrides) },
    inspect: {
      holders: on(read.holders),
      failures: on(read.failures),
      runs: on(read.runs),
      unservedKinds: on(read.unservedKinds),
      versions: on(versions),
      position: on(read.position),
      blocker: on(blocker),
    },
    schedules: {
      declare: on(schedules.declareSchedules),
      create: on(schedules.createSchedule),
      change: on(schedules.changeSchedule),
      delete: on(schedules.deleteSchedule),
      tick: notifying(schedules.tick),
      failed: on(schedules.scheduleFailed),
      list: on(schedules.readSchedules),
      ticks: on(schedules.readTicks),
    },
    groups: { change: on(changeGroup), list: on(listGroups) },
    limits: {
      async declare(declared, queues = []) {
        const copy = structuredClone(state())
        limits.declareLimits(copy, declared)
        declareQueues(copy, queues)
        database.state = copy
      },
      create: on(limits.createLimit),
      change: on(limits.changeLimit),
      delete: on(limits.deleteLimit),
      acquire: on(limits.acquire),
      release: notifying(limits.release),
      drain: on(limits.drain),
      list: on(read.limits),
    },
    alerts: { list: on(readAlerts), put: on(putAlert), delete: on(deleteAlert) },
    views: { list: on(readViews), add: on(addView), delete: on(deleteView) },
    metrics: {
      rollUp: on(rollUp),
      record: on(record),
      read: on(metrics),
      timeline: on(timeline),
    },
    steps: {
      record: async (items, { tx } = {}) => recordSteps(state(tx), items, tx !== undefined),
      start: notifying(startChildren),
      wait: on(waitForSteps),
      rewind: notifying(rewind),
      fork: notifying(fork),
      children: on(children),
      parents: on(parents),
      read: on(memos),
      list: async (id) => listSteps(state(), id),
      send: async (items, { tx } = {}) => notify((state) => sendEvents(state, items), tx),
    },
    notifier: {
      wait: async (options) => {
        state()
        return room.wait(options)
      },
      notify: (queues) => database.notifier.notify(queues.map(wakeAll)),
      forward: (wakeUp) => database.notifier.pass(wakeUp, room),
    },
  })
}
