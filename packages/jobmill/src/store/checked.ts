/**
 * What every store refuses before it writes anything, in one place in front of all of them: ids that are none, limits out of bounds,
 * names that cannot be used, endings without an outcome. Texts that come from anywhere (errors, reasons) are not refused but
 * made storable, because a failure must always be writable.
 */
import { BOUNDS } from '../job/defaults.ts'
import { JobmillError } from '../job/errors.ts'
import { storableText } from '../job/error-text.ts'
import { checkId, checkName } from '../job/names.ts'
import { checkWhole } from '../job/numbers.ts'
import { isEnded } from '../job/state.ts'
import type { ClaimRequest } from './claim.ts'
import type { Finish } from './finish.ts'
import type { NewInstance } from './instance.ts'
import type { Store } from './store.ts'

const MOST_PER_PASS = { least: 1, most: 10_000 }

export function checked<Tx>(store: Store<Tx>): Store<Tx> {
  return {
    ...store,
    claim: async (request) => store.claim(checkClaim(request)),
    // Nothing is awaited before the store is called: in a user's transaction on SQLite the write must happen inside this call.
    finish: async (items, options) => store.finish(items.map(checkFinish), options),
    progress: async (items) =>
      store.progress(items.map((item, at) => ({ ...item, id: checkId(item.id, `items[${at}].id`) }))),
    cancel: async (ids, reason) => store.cancel(checkIds(ids), storableText(reason)),
    retry: async (ids) => store.retry(checkIds(ids)),
    runNow: async (ids) => store.runNow(checkIds(ids)),
    delete: async (ids) => store.delete(checkIds(ids)),
    register: async (instance) => store.register(checkInstance(instance)),
    renew: async (request) => store.renew({ ...request, instance: checkId(request.instance, 'instance') }),
    deregister: async (instance) => store.deregister(checkId(instance, 'instance')),
    stage: async (limit) => store.stage(checkWhole(limit, 'limit', MOST_PER_PASS)),
    reap: async (options) =>
      store.reap({
        crashesUntilDead: checkWhole(options.crashesUntilDead, 'crashesUntilDead', MOST_PER_PASS),
        limit: checkWhole(options.limit, 'limit', MOST_PER_PASS),
      }),
    retain: async (limit) => store.retain(checkWhole(limit, 'limit', MOST_PER_PASS)),
    fold: async (limit) => store.fold(checkWhole(limit, 'limit', MOST_PER_PASS)),
    declareQueues: async (queues) => {
      for (const [at, { name }] of queues.entries()) checkName(name, `queues[${at}].name`)
      await store.declareQueues(queues)
    },
    get: async (ids) => store.get(checkIds(ids)),
    history: async (id) => store.history(checkId(id, 'id')),
    held: async (instance) => store.held(checkId(instance, 'instance')),
  }
}

function checkIds(ids: readonly string[]): string[] {
  return ids.map((id, at) => checkId(id, `ids[${at}]`))
}

function checkClaim(request: ClaimRequest): ClaimRequest {
  checkWhole(request.limit, 'limit', { least: 1, most: BOUNDS.claimLimit })
  for (const [at, { room }] of request.queues.entries()) {
    checkWhole(room, `queues[${at}].room`, { least: 0, most: BOUNDS.workers.most })
  }
  return { ...request, instance: checkId(request.instance, 'instance') }
}

function checkInstance(instance: NewInstance): NewInstance {
  checkWhole(instance.capacity, 'capacity', BOUNDS.workers)
  checkWhole(instance.leaseMs, 'leaseMs', { least: 0, most: BOUNDS.durationMs })
  return {
    ...instance,
    id: checkId(instance.id, 'id'),
    label: instance.label === null ? null : storableText(instance.label),
    version: instance.version === null ? null : storableText(instance.version),
  }
}

function checkFinish(item: Finish, index: number): Finish {
  const { transition, outcome } = item
  if (outcome === null && isEnded(transition.to)) {
    throw new JobmillError('OPTION_INVALID', `a job that goes to ${transition.to} needs an outcome`, {
      field: `items[${index}].outcome`,
      value: 'null',
      index,
      fix: 'Only a job that goes back to waiting may have none',
    })
  }
  if (transition.to === 'scheduled') {
    checkWhole(transition.delayMs, `items[${index}].transition.delayMs`, {
      least: 0,
      most: BOUNDS.durationMs,
    })
  }
  const id = checkId(item.id, `items[${index}].id`)
  return item.error === undefined ? { ...item, id } : { ...item, id, error: storableText(item.error) }
}
