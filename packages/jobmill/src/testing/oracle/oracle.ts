/**
 * The contract in executable form: a store in memory that does what docs/reference/store-contract.md says, as
 * plainly as can be. Real stores are compared with it. Slow on purpose where that is simpler; keeps nothing.
 */
import { JobmillError } from '../../job/errors.ts'
import { checked } from '../../store/checked.ts'
import type { Store } from '../../store/store.ts'
import { claim } from './claim.ts'
import { type Bell, createBell } from './bell.ts'
import { enqueue, ensureQueue } from './enqueue.ts'
import { finish, progress } from './finish.ts'
import { deregister, register, renew } from './instances.ts'
import { list } from './list.ts'
import { cancel, remove, retry, runNow } from './operate.ts'
import { changeQueue } from './queues.ts'
import { counts, get, held, history, instances, queues, results } from './read.ts'
import { reap } from './reap.ts'
import { retain } from './retain.ts'
import { stage } from './stage.ts'
import { type OracleState, emptyState } from './state.ts'
import { unserved } from './unserved.ts'

/** What several handles share, as several connections share a database. */
export interface OracleDatabase {
  state: OracleState
  readonly bell: Bell
}

/** A copy of the state, which becomes the state when the transaction commits. */
export interface OracleTx {
  readonly state: OracleState
}

export function oracleDatabase(): OracleDatabase {
  return { state: emptyState(), bell: createBell() }
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
): Store<OracleTx> {
  let isOpen = false
  const state = (tx?: OracleTx): OracleState => {
    if (!isOpen) throw new JobmillError('STORE_CLOSED', 'the store is not open')
    if (tx !== undefined && typeof tx.state !== 'object')
      throw new JobmillError('TX_INVALID', 'is no transaction')
    return tx?.state ?? database.state
  }
  const own = new AbortController()
  return checked({
    name: 'oracle',
    open: async () => void (isOpen = true),
    close: async () => {
      isOpen = false
      own.abort()
    },

    enqueue: async (jobs, { tx } = {}) => enqueue(state(tx), clock(), jobs),
    stage: async (limit) => stage(state(), clock(), limit),
    claim: async (request) => claim(state(), clock(), request),
    finish: async (items, { tx } = {}) => finish(state(tx), clock(), items),
    progress: async (items) => progress(state(), items),

    cancel: async (ids, reason) => cancel(state(), clock(), ids, reason),
    retry: async (ids) => retry(state(), clock(), ids),
    runNow: async (ids) => runNow(state(), clock(), ids),
    delete: async (ids) => remove(state(), ids),

    register: async (instance) => register(state(), clock(), instance),
    renew: async (request) => renew(state(), clock(), request),
    deregister: async (instance) => deregister(state(), clock(), instance),
    reap: async (options) => reap(state(), clock(), options),
    retain: async (limit) => retain(state(), clock(), limit),
    // There are no counter rows here: counts are taken from the jobs.
    fold: async () => (state(), 0),

    declareQueues: async (queues) =>
      queues.forEach(({ name, settings }) => ensureQueue(state(), name, settings)),
    changeQueue: async (name, patch) => changeQueue(state(), clock(), name, patch),

    get: async (ids) => get(state(), ids),
    results: async (ids) => results(state(), ids),
    history: async (id) => history(state(), id),
    list: async (filter, page) => list(state(), filter, page),
    counts: async () => counts(state(), clock()),
    queues: async () => queues(state(), clock()),
    instances: async () => instances(state(), clock()),
    unserved: async () => unserved(state(), clock()),
    held: async (instance) => held(state(), clock(), instance),

    wait: async (options) => {
      state()
      return database.bell.wait(options, own.signal)
    },
    ring: (queues) => database.bell.ring(queues),
  })
}
