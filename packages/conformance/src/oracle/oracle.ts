/**
 * The executable contract: an in-memory store that follows docs/internals/store-contract.md as simply as
 * possible. Real stores are compared with it. It prefers simplicity to speed and persists nothing.
 */
import { type FullStore, JobmillError, wakeAll } from 'jobmill/store'
import { withCheckedArguments } from '../checked-arguments.ts'
import { assign, readSlots } from './instances/slots.ts'
import { type Notification, createNotifier, lookBefore, wakeUpsSince } from './notifier.ts'
import { claim } from './jobs/claim.ts'
import { readDuties } from './instances/duties.ts'
import { enqueue } from './jobs/enqueue.ts'
import { metrics, record, rollUp, timeline } from './metrics.ts'
import { finish, progress } from './jobs/finish.ts'
import { enqueueWithHandOff } from './jobs/hand-off.ts'
import { deregister, register, renew } from './instances/instances.ts'
import { acquire, changeLimit, createLimit, declareLimits, deleteLimit, drain, release } from './limits.ts'
import { list } from './inspect/list.ts'
import { cancel, remove, retry, runNow } from './jobs/operate.ts'
import { readOverrides, resetOverrides } from './overrides.ts'
import { changeQueue, declareQueues } from './queues.ts'
import {
  counts,
  failures,
  get,
  held,
  holders,
  history,
  instances,
  limits,
  queues,
  results,
} from './inspect/read.ts'
import { reap } from './instances/reap.ts'
import { retain } from './retain.ts'
import {
  changeSchedule,
  createSchedule,
  declareSchedules,
  deleteSchedule,
  readSchedules,
  scheduleFailed,
} from './schedules/schedules.ts'
import { stage } from './jobs/stage.ts'
import { type OracleState, emptyState } from './state.ts'
import { readTicks, tick } from './schedules/ticks.ts'
import { position, unservedKinds } from './inspect/ready.ts'

/** Shared by several handles, as several connections share a database. */
export interface OracleDatabase {
  state: OracleState
  readonly notifier: Notification
}

/** A copy of the state that replaces it when the transaction commits. */
export interface OracleTx {
  readonly state: OracleState
}

export function oracleDatabase(): OracleDatabase {
  return { state: emptyState(), notifier: createNotifier() }
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
    return tx?.state ?? database.state
  }
  /**
   * Runs a verb that may make jobs ready or free permits, and notifies. A user transaction does not notify,
   * because its commit is not observed.
   */
  const wakeUps = <T>(act: (state: OracleState, now: number) => T, tx?: OracleTx): T => {
    const before = lookBefore(state(tx))
    const reply = act(state(tx), clock())
    if (tx === undefined) database.notifier.notify(wakeUpsSince(before, state()))
    return reply
  }
  const room = database.notifier.join()
  return withCheckedArguments({
    name: 'oracle',
    open: async () => void (isOpen = true),
    close: async () => {
      isOpen = false
      database.notifier.leave(room)
    },
    enqueue: async (jobs, { tx, mayRepeat, handOff } = {}) =>
      tx !== undefined || mayRepeat === true || handOff === undefined
        ? wakeUps((state, now) => enqueue(state, now, jobs), tx)
        : wakeUps((state, now) => enqueueWithHandOff(state, now, jobs, handOff)),
    stage: async (limit) => wakeUps((state, now) => stage(state, now, limit)),
    claim: async (request) => claim(state(), clock(), request),
    finish: async (items, { tx, rehearse } = {}) => {
      const copy = rehearse === true && tx === undefined ? { state: structuredClone(state()) } : tx
      return wakeUps((state, now) => finish(state, now, items), copy)
    },
    progress: async (items) => progress(state(), items),
    cancel: async (ids, reason) => cancel(state(), clock(), ids, reason),
    retry: async (ids) => wakeUps((state, now) => retry(state, now, ids)),
    runNow: async (ids) => wakeUps((state, now) => runNow(state, now, ids)),
    delete: async (ids) => remove(state(), ids),
    retain: async (request) => retain(state(), clock(), request),
    // There are no counter rows: counts are computed from the jobs.
    fold: async () => (state(), 0),
    get: async (ids) => get(state(), ids),
    results: async (ids) => results(state(), ids),
    history: async (id) => history(state(), id),
    list: async (filter, page) => list(state(), filter, page),
    counts: async () => counts(state(), clock()),
    now: async () => (state(), clock()),
    queues: {
      declare: async (queues) => declareQueues(state(), queues),
      change: async (name, patch, by) => changeQueue(state(), clock(), name, patch, by),
      list: async () => queues(state(), clock()),
    },
    instances: {
      register: async (instance) => register(state(), clock(), instance),
      renew: async (request) => renew(state(), clock(), request),
      deregister: async (instance) => wakeUps((state, now) => deregister(state, now, instance)),
      reap: async (options) => wakeUps((state, now) => reap(state, now, options)),
      assign: async (slots) => assign(state(), clock(), slots),
      list: async () => instances(state(), clock()),
      held: async (instance) => held(state(), clock(), instance),
      duties: async () => readDuties(state(), clock()),
      slots: async () => readSlots(state()),
    },
    overrides: {
      reset: async (what, name, options) => resetOverrides(state(), clock(), what, name, options),
      list: async () => readOverrides(state()),
    },
    inspect: {
      holders: async (keys) => holders(state(), clock(), keys),
      failures: async (ids) => failures(state(), ids),
      unservedKinds: async () => unservedKinds(state(), clock()),
      position: async (id, kinds) => position(state(), id, kinds),
    },
    schedules: {
      declare: async (schedules) => declareSchedules(state(), clock(), schedules),
      create: async (name, definition, by, named) =>
        createSchedule(state(), clock(), name, definition, by, named),
      change: async (name, patch, by) => changeSchedule(state(), clock(), name, patch, by),
      delete: async (name, by) => deleteSchedule(state(), clock(), name, by),
      tick: async (ticks) => wakeUps((state, now) => tick(state, now, ticks)),
      failed: async (name, error) => scheduleFailed(state(), name, error),
      list: async () => readSchedules(state(), clock()),
      ticks: async (schedule, limit) => readTicks(state(), schedule, limit),
    },
    limits: {
      declare: async (limits) => declareLimits(state(), clock(), limits),
      create: async (name, parts, by) => createLimit(state(), clock(), name, parts, by),
      change: async (name, parts, by) => changeLimit(state(), clock(), name, parts, by),
      delete: async (name) => deleteLimit(state(), name),
      acquire: async (items) => acquire(state(), clock(), items),
      release: async (items) => wakeUps((state) => release(state, items)),
      drain: async (name, forMs, key) => drain(state(), clock(), name, forMs, key),
      list: async () => limits(state(), clock()),
    },
    metrics: {
      rollUp: async (limit) => rollUp(state(), limit),
      record: async (recording) => record(state(), clock(), recording),
      read: async (query) => metrics(state(), query),
      timeline: async (query) => timeline(state(), query),
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
