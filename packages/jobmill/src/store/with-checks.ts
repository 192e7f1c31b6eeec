/**
 * Validates the arguments of every store before anything is written. Free texts, such as errors and reasons,
 * are made storable instead of rejected, because a failure must always be writable.
 */
import { BOUNDS } from '../job/defaults.ts'
import { storableText } from '../job/error-text.ts'
import { checkObjectKeys } from '../job/known-keys.ts'
import { checkLimitParts } from '../job/limit.ts'
import { checkLimitKey } from '../job/limit-draw.ts'
import { checkId, checkKey, checkName, checkSoughtName, checkString } from '../job/names.ts'
import { checkOneOf, checkWhole } from '../job/numbers.ts'
import { OVERRIDABLE } from '../job/overrides.ts'
import { checkQueueSettings } from '../job/queue-settings.ts'
import { SCHEDULE_KEYS } from '../job/schedule.ts'
import type { NewJob } from '../job/new-job.ts'
import { checkFinish, checkProgress } from './check-attempts.ts'
import {
  checkDeclaredSchedule,
  checkLimit,
  checkMetricQuery,
  checkPermitOf,
  checkRecording,
  checkRetain,
  checkSchedule,
  checkSlots,
  checkAcquire,
  checkTick,
  checkTimelineQuery,
} from './check-cluster.ts'
import {
  checkClaim,
  checkFilter,
  checkHandOff,
  checkIds,
  checkInstance,
  checkPage,
  checkPatch,
  checkHeartbeat,
  DURATION,
} from './check-requests.ts'
import type { HandOff } from './claim.ts'
import { limitUnknown } from './cluster-errors.ts'
import type { Enqueued } from './replies.ts'
import type { Store } from './store.ts'

/** Stored keys include their scope and the name of a queue or kind. */
const MOST_KEY_CHARS = 2 * BOUNDS.keyChars

const MOST_PER_PASS = { least: 1, most: 10_000 }

export function withChecks<Tx>(store: Store<Tx>): Store<Tx> {
  return {
    ...store,
    // Jobs are already checked, so an enqueue without direct dispatch goes straight to the store.
    enqueue(jobs, options) {
      const handOff = options?.handOff
      if (handOff === undefined) return store.enqueue(jobs, options)
      return handingOff(store, jobs, { ...options, handOff })
    },
    claim: async (request) => store.claim(checkClaim(request)),
    // Nothing is awaited before the store is called: in a user's transaction on SQLite, the write must happen
    // inside this call.
    finish: async (items, options) => store.finish(items.map(checkFinish), options),
    progress: async (items) => store.progress(items.map(checkProgress)),
    cancel: async (ids, reason) => store.cancel(checkIds(ids), storableText(checkString(reason, 'reason'))),
    retry: async (ids) => store.retry(checkIds(ids)),
    runNow: async (ids) => store.runNow(checkIds(ids)),
    delete: async (ids) => store.delete(checkIds(ids)),
    register: async (instance) => store.register(checkInstance(instance)),
    renew: async (request) => store.renew(checkHeartbeat(request)),
    deregister: async (instance) => store.deregister(checkId(instance, 'instance')),
    stage: async (limit) => store.stage(checkWhole(limit, 'limit', MOST_PER_PASS)),
    reap: async (options) => {
      checkObjectKeys(options, 'options', ['crashesUntilDead', 'limit'])
      checkWhole(options.crashesUntilDead, 'crashesUntilDead', MOST_PER_PASS)
      checkWhole(options.limit, 'limit', MOST_PER_PASS)
      return store.reap(options)
    },
    retain: async (request) => store.retain(checkRetain(request)),
    fold: async (limit) => store.fold(checkWhole(limit, 'limit', MOST_PER_PASS)),
    rollUp: async (limit) => store.rollUp(checkWhole(limit, 'limit', MOST_PER_PASS)),
    record: async (recording) => store.record(checkRecording(recording)),
    assign: async (slots) => store.assign(checkSlots(slots)),
    declareSchedules: async (schedules) => store.declareSchedules(schedules.map(checkDeclaredSchedule)),
    createSchedule: async (name, definition, by, named) =>
      store.createSchedule(
        checkName(name, 'name'),
        checkSchedule(definition, 'definition', true),
        checkBy(by),
        named?.map((option, at) => checkOneOf(option, `named[${at}]`, SCHEDULE_KEYS)),
      ),
    changeSchedule: async (name, patch, by) =>
      store.changeSchedule(checkSoughtName(name, 'name'), checkSchedule(patch, 'patch', false), checkBy(by)),
    deleteSchedule: async (name, by) => store.deleteSchedule(checkSoughtName(name, 'name'), checkBy(by)),
    tick: async (ticks) => store.tick(ticks.map(checkTick)),
    scheduleFailed: async (name, error) =>
      store.scheduleFailed(name, error === null ? null : storableText(error)),
    declareLimits: async (limits) => {
      limits.forEach(checkLimit)
      await store.declareLimits(limits)
    },
    createLimit: async (name, settings, by) =>
      store.createLimit(checkName(name, 'name'), checkLimitParts(settings, 'settings'), checkBy(by)),
    changeLimit: async (name, settings, by) => {
      const parts = checkLimitParts(settings, 'settings', true)
      return store.changeLimit(ofLimit(name), parts, checkBy(by))
    },
    resetOverrides: async (what, name, options) =>
      store.resetOverrides(
        checkOneOf(what, 'what', OVERRIDABLE),
        what === 'limit' ? ofLimit(name) : checkSoughtName(name, 'name'),
        options,
      ),
    deleteLimit: async (name) => !isOfKey(name) && store.deleteLimit(name),
    acquire: async (items) => store.acquire(items.map(checkAcquire)),
    release: async (items) => store.release(items.map(checkPermitOf)),
    drain: async (name, forMs, key) => {
      checkWhole(forMs, 'forMs', DURATION)
      return store.drain(ofLimit(name), forMs, key === undefined ? undefined : checkLimitKey(key, 'key'))
    },
    ticks: async (name, limit) =>
      store.ticks(checkSoughtName(name, 'name'), checkWhole(limit, 'limit', MOST_PER_PASS)),
    metrics: async (query) => store.metrics(checkMetricQuery(query)),
    timeline: async (query) => store.timeline(checkTimelineQuery(query)),
    declareQueues: async (queues) => {
      for (const [at, { name, settings }] of queues.entries()) {
        checkName(name, `queues[${at}].name`)
        if (settings !== null) checkQueueSettings(settings, `queues[${at}].settings`)
      }
      await store.declareQueues(queues)
    },
    changeQueue: async (name, patch, by) =>
      store.changeQueue(checkSoughtName(name, 'name'), checkPatch(patch), checkBy(by)),
    get: async (ids) => store.get(checkIds(ids)),
    results: async (ids) => store.results(checkIds(ids)),
    holders: async (keys) => {
      checkWhole(keys.length, 'keys.length', { least: 0, most: BOUNDS.pageLimit })
      return store.holders(keys.map((key, at) => checkKey(key, `keys[${at}]`, MOST_KEY_CHARS)))
    },
    failures: async (ids) => {
      checkWhole(ids.length, 'ids.length', { least: 0, most: BOUNDS.pageLimit })
      return store.failures(checkIds(ids))
    },
    history: async (id) => store.history(checkId(id, 'id')),
    list: async (filter, page) => store.list(checkFilter(filter), checkPage(page)),
    position: async (id, kinds) => store.position(checkId(id, 'id'), kinds),
    held: async (instance) => store.held(checkId(instance, 'instance')),
    wait: async (options) => {
      checkWhole(options.timeoutMs, 'timeoutMs', { least: 0, most: BOUNDS.durationMs })
      return store.wait(options)
    },
  }
}

/** Validates the name of the operator who sets an override. */
function checkBy(by: string | undefined): string | undefined {
  return by === undefined ? undefined : checkKey(by, 'by')
}

/** Stores name the budget of a key "limit key", with a space. Such a name is not the name of a limit. */
const isOfKey = (name: string): boolean => checkSoughtName(name, 'name').includes(' ')

function ofLimit(name: string): string {
  if (isOfKey(name)) throw limitUnknown(name)
  return name
}

/** Like `finish`, this must not await anything before it calls the store. */
async function handingOff<Tx>(
  store: Store<Tx>,
  jobs: readonly NewJob[],
  options: { readonly tx?: Tx | undefined; readonly mayRepeat?: boolean; readonly handOff: HandOff },
): Promise<Enqueued[]> {
  return store.enqueue(jobs, { ...options, handOff: checkHandOff(options.handOff) })
}
