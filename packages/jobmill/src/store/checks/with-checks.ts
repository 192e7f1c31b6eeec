/**
 * Validates the arguments of every store before anything is written. Free texts, such as errors and reasons,
 * are made storable instead of rejected, because a failure must always be writable.
 */
import { BOUNDS } from '../../job/defaults.ts'
import { storableText } from '../../job/text/error-text.ts'
import { checkObjectKeys } from '../../job/options/known-keys.ts'
import { checkLimitParts } from '../../job/limit/limit.ts'
import { checkLimitKey } from '../../job/limit/limit-draw.ts'
import { checkId, checkKey, checkName, checkSoughtName, checkString } from '../../job/names.ts'
import { checkOneOf, checkWhole } from '../../job/numbers.ts'
import { OVERRIDABLE } from '../../job/queue/overrides.ts'
import { checkQueueSettings } from '../../job/queue/queue-settings.ts'
import { SCHEDULE_KEYS } from '../../job/schedule/schedule.ts'
import type { NewJob } from '../../job/new-job.ts'
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
import type { HandOff } from '../types/claim.ts'
import { limitUnknown } from '../cluster-errors.ts'
import type { Enqueued } from '../types/replies.ts'
import type { LimitsPart, MetricsPart, NotifierPart, SchedulesPart } from '../parts.ts'
import type { FullStore, Store } from '../store.ts'

/** Stored keys include their scope and the name of a queue or kind. */
const MOST_KEY_CHARS = 2 * BOUNDS.keyChars

const MOST_PER_PASS = { least: 1, most: 10_000 }

/** `store` must be an object of functions, not a class: its members are copied. */
export function withChecks<Tx>(store: FullStore<Tx>): FullStore<Tx>
export function withChecks<Tx>(store: Store<Tx>): Store<Tx>
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
    stage: async (limit) => store.stage(checkWhole(limit, 'limit', MOST_PER_PASS)),
    retain: async (request) => store.retain(checkRetain(request)),
    fold: async (limit) => store.fold(checkWhole(limit, 'limit', MOST_PER_PASS)),
    get: async (ids) => store.get(checkIds(ids)),
    results: async (ids) => store.results(checkIds(ids)),
    history: async (id) => store.history(checkId(id, 'id')),
    list: async (filter, page) => store.list(checkFilter(filter), checkPage(page)),
    queues: {
      ...store.queues,
      declare: async (queues) => {
        for (const [at, { name, settings }] of queues.entries()) {
          checkName(name, `queues[${at}].name`)
          if (settings !== null) checkQueueSettings(settings, `queues[${at}].settings`)
        }
        await store.queues.declare(queues)
      },
      change: async (name, patch, by) =>
        store.queues.change(checkSoughtName(name, 'name'), checkPatch(patch), checkBy(by)),
    },
    instances: {
      ...store.instances,
      register: async (instance) => store.instances.register(checkInstance(instance)),
      renew: async (request) => store.instances.renew(checkHeartbeat(request)),
      deregister: async (instance) => store.instances.deregister(checkId(instance, 'instance')),
      reap: async (options) => {
        checkObjectKeys(options, 'options', ['crashesUntilDead', 'limit'])
        checkWhole(options.crashesUntilDead, 'crashesUntilDead', MOST_PER_PASS)
        checkWhole(options.limit, 'limit', MOST_PER_PASS)
        return store.instances.reap(options)
      },
      assign: async (slots) => store.instances.assign(checkSlots(slots)),
      held: async (instance) => store.instances.held(checkId(instance, 'instance')),
    },
    overrides: {
      ...store.overrides,
      reset: async (what, name, options) =>
        store.overrides.reset(
          checkOneOf(what, 'what', OVERRIDABLE),
          what === 'limit' ? ofLimit(name) : checkSoughtName(name, 'name'),
          options,
        ),
    },
    inspect: {
      ...store.inspect,
      holders: async (keys) => {
        checkWhole(keys.length, 'keys.length', { least: 0, most: BOUNDS.pageLimit })
        return store.inspect.holders(keys.map((key, at) => checkKey(key, `keys[${at}]`, MOST_KEY_CHARS)))
      },
      failures: async (ids) => {
        checkWhole(ids.length, 'ids.length', { least: 0, most: BOUNDS.pageLimit })
        return store.inspect.failures(checkIds(ids))
      },
      position: async (id, kinds) => store.inspect.position(checkId(id, 'id'), kinds),
    },
    schedules: store.schedules && checkedSchedules(store.schedules),
    limits: store.limits && checkedLimits(store.limits),
    metrics: store.metrics && checkedMetrics(store.metrics),
    notifier: store.notifier && checkedNotifier(store.notifier),
  }
}

function checkedSchedules(part: SchedulesPart): SchedulesPart {
  return {
    ...part,
    declare: async (schedules) => part.declare(schedules.map(checkDeclaredSchedule)),
    create: async (name, definition, by, named) =>
      part.create(
        checkName(name, 'name'),
        checkSchedule(definition, 'definition', true),
        checkBy(by),
        named?.map((option, at) => checkOneOf(option, `named[${at}]`, SCHEDULE_KEYS)),
      ),
    change: async (name, patch, by) =>
      part.change(checkSoughtName(name, 'name'), checkSchedule(patch, 'patch', false), checkBy(by)),
    delete: async (name, by) => part.delete(checkSoughtName(name, 'name'), checkBy(by)),
    tick: async (ticks) => part.tick(ticks.map(checkTick)),
    failed: async (name, error) => part.failed(name, error === null ? null : storableText(error)),
    ticks: async (name, limit) =>
      part.ticks(checkSoughtName(name, 'name'), checkWhole(limit, 'limit', MOST_PER_PASS)),
  }
}

function checkedLimits(part: LimitsPart): LimitsPart {
  return {
    ...part,
    declare: async (limits) => {
      limits.forEach(checkLimit)
      await part.declare(limits)
    },
    create: async (name, settings, by) =>
      part.create(checkName(name, 'name'), checkLimitParts(settings, 'settings'), checkBy(by)),
    change: async (name, settings, by) => {
      const parts = checkLimitParts(settings, 'settings', true)
      return part.change(ofLimit(name), parts, checkBy(by))
    },
    delete: async (name) => !isOfKey(name) && part.delete(name),
    acquire: async (items) => part.acquire(items.map(checkAcquire)),
    release: async (items) => part.release(items.map(checkPermitOf)),
    drain: async (name, forMs, key) => {
      checkWhole(forMs, 'forMs', DURATION)
      return part.drain(ofLimit(name), forMs, key === undefined ? undefined : checkLimitKey(key, 'key'))
    },
  }
}

function checkedMetrics(part: MetricsPart): MetricsPart {
  return {
    ...part,
    rollUp: async (limit) => part.rollUp(checkWhole(limit, 'limit', MOST_PER_PASS)),
    record: async (recording) => part.record(checkRecording(recording)),
    read: async (query) => part.read(checkMetricQuery(query)),
    timeline: async (query) => part.timeline(checkTimelineQuery(query)),
  }
}

function checkedNotifier(part: NotifierPart): NotifierPart {
  return {
    ...part,
    wait: async (options) => {
      checkWhole(options.timeoutMs, 'timeoutMs', { least: 0, most: BOUNDS.durationMs })
      return part.wait(options)
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
