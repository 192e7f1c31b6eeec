/**
 * Adds substitutes for the optional parts that a store does not have. They return nothing to reads, ignore
 * recordings, and refuse every other call.
 */
import { JobmillError } from '../job/errors.ts'
import type { Platform } from '../platform/platform.ts'
import { sleep } from '../platform/sleep.ts'
import type {
  AlertsPart,
  GroupsPart,
  InspectPart,
  LimitsPart,
  MetricsPart,
  NotifierPart,
  OverridesPart,
  SchedulesPart,
  StepsPart,
  ViewsPart,
} from './parts.ts'
import type { FullStore, Store } from './store.ts'
import { aroundVerbs } from './verbs.ts'

/** Two mills that share a store must recognize it as the same object. */
const completed = new WeakMap<Store<never>, FullStore<never>>()

export function withAllParts(store: Store, platform: Platform): FullStore {
  const { overrides, inspect, schedules, limits, groups, alerts, views, metrics, steps, notifier } = store
  const operated = overrides && inspect && alerts && views && metrics
  if (operated && schedules && limits && groups && steps && notifier) return store as FullStore
  const known = completed.get(store)
  if (known !== undefined) return known
  const parts = {
    overrides: overrides ?? noOverrides(store.name),
    inspect: inspect ?? noInspect(store.name),
    schedules: schedules ?? noSchedules(store.name),
    limits: limits ?? noLimits(store.name),
    groups: groups ?? noGroups(store.name),
    alerts: alerts ?? noAlerts(store.name),
    views: views ?? noViews(store.name),
    metrics: metrics ?? NO_METRICS,
    steps: steps ?? noSteps(store.name),
    notifier: notifier ?? noNotifier(platform),
  }
  // Without wrappers. Each verb is still called on the object that has it, because a custom store may be a
  // class.
  const full = Object.assign(
    aroundVerbs(store, [], (_, call) => call),
    parts,
  )
  completed.set(store, full)
  return full
}

/** Warnings about absent parts. Calls to them are not refused, but have no effect. */
export function absentPartWarnings({ name, inspect, metrics, notifier }: Store<never>): readonly string[] {
  return [
    ...(inspect === undefined
      ? [`${name} has no inspect. Errors, versions and kinds without a worker stay empty`]
      : []),
    ...(metrics === undefined ? [`${name} has no metrics. Metrics, timeline and audit log stay empty`] : []),
    ...(notifier === undefined
      ? [`${name} has no notifier. Workers find the jobs of other processes with their next heartbeat`]
      : []),
  ]
}

const REFUSED = ['schedules', 'limits', 'alerts', 'groups'] as const
type RefusedPart = (typeof REFUSED)[number]

/**
 * The parts that code uses and the store does not have. A start checks them before it writes to the other
 * parts.
 */
export function absentPartErrors(
  store: Store<never>,
  used: Readonly<Record<Used, readonly unknown[]>>,
): readonly (readonly [option: Used, error: JobmillError])[] {
  const lacks = (one: Used): boolean => store[one === 'onCancelled' ? 'steps' : one] === undefined
  return ([...REFUSED, 'onCancelled'] as const)
    .filter((one) => lacks(one) && used[one].length > 0)
    .map((one) => [one, unsupported(store.name, one)] as const)
}

/** The store itself enqueues the follow-ups of `onCancelled`, if it has the part `steps`. */
type Used = RefusedPart | 'onCancelled'

function unsupported(name: string, what: string, remedy = `Remove the ${what}`): JobmillError {
  const part = what === 'onCancelled' ? 'steps' : 'them'
  const fix = `${what === 'onCancelled' ? 'Remove onCancelled' : remedy}, or use a store that supports ${part}`
  return new JobmillError('STORE_UNSUPPORTED', `the store ${name} does not support ${what}`, { fix })
}

function refuses(...args: Parameters<typeof unsupported>): () => Promise<never> {
  return async () => {
    throw unsupported(...args)
  }
}

/**
 * Refuses every call, except reads and declarations without items: code that declares nothing does not need
 * the part.
 */
function absentPart(name: string, part: RefusedPart) {
  const refused = refuses(name, part)
  return {
    refused,
    declare: async (declared: readonly unknown[]): Promise<void> => {
      if (declared.length > 0) await refused()
    },
    create: refused,
    change: refused,
    delete: async () => false,
    list: async () => [],
  }
}

function noOverrides(name: string): OverridesPart {
  return { list: async () => [], reset: refuses(name, 'resets of overrides', 'Change the option instead') }
}

/** A null for `holders` would say that the key is free. */
function noInspect(name: string): InspectPart {
  return {
    failures: async (ids) => ids.map(() => null),
    runs: async () => [],
    holders: refuses(name, 'lookups of dedupe keys', 'Read the reply of the enqueue'),
    position: async () => null,
    blocker: async () => null,
    unservedKinds: async () => [],
    versions: async () => [],
  }
}

function noSchedules(name: string): SchedulesPart {
  const { refused, ...part } = absentPart(name, 'schedules')
  return { ...part, tick: refused, failed: refused, ticks: async () => [] }
}

function noLimits(name: string): LimitsPart {
  const { refused, ...part } = absentPart(name, 'limits')
  return { ...part, acquire: refused, release: refused, drain: refused }
}

function noGroups(name: string): GroupsPart {
  return { change: refuses(name, 'groups'), list: async () => [] }
}

function noAlerts(name: string): AlertsPart {
  const { refused, delete: none, list } = absentPart(name, 'alerts')
  return { list, put: refused, delete: none }
}

/** A job has no steps in such a store, so nothing is read. */
function noSteps(name: string): StepsPart {
  const refused = refuses(name, 'steps')
  return {
    record: refused,
    start: refused,
    wait: refused,
    rewind: refused,
    fork: refused,
    send: refused,
    read: async (ids) => ids.map(() => []),
    children: async () => [],
    parents: async (ids) => ids.map(() => null),
    list: async () => [],
  }
}

function noViews(name: string): ViewsPart {
  return { list: async () => [], add: refuses(name, 'saved views'), delete: async () => false }
}

const NO_METRICS: MetricsPart = {
  record: async () => {},
  rollUp: async () => 0,
  read: async () => [],
  timeline: async () => [],
}

function noNotifier(platform: Platform): NotifierPart {
  return {
    async wait({ timeoutMs, signal }) {
      await sleep(platform, timeoutMs, signal)
      return []
    },
    notify: () => {},
    forward: () => {},
  }
}
