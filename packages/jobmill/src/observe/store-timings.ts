/** Store latency and failures as this process measures them. Timing adds no waits. */
import { isDataError } from '../job/errors.ts'
import { bucketOf, type MetricData } from '../job/metric-data.ts'
import type { Platform } from '../platform/platform.ts'
import type { Notifier, Store } from '../store/store.ts'

export interface StoreTimings {
  /** Returns the same store with timing. */
  readonly around: <S extends Store<never>>(store: S) => S
  /** What was counted since the last call. */
  readonly take: () => MetricData
  /** Totals since the start of this process. */
  readonly totals: () => StoreTotals
}

export interface StoreTotals {
  /** By verb, only those that were called. */
  readonly verbs: ReadonlyMap<string, VerbTimes>
  readonly failures: number
}

interface VerbTimes {
  readonly histogram: Readonly<Record<number, number>>
  /** The sum of the times, in ms. */
  readonly sumMs: number
}

export const STORE_CLASSES = ['read', 'write', 'heartbeat'] as const
type StoreClass = (typeof STORE_CLASSES)[number]

type Untimed = 'name' | 'callLimitBytes' | 'open' | 'close' | keyof Notifier

/** A record instead of a list, so that the compiler reports a store verb that is missing here. */
const CLASS_OF: Readonly<Record<Exclude<keyof Store, Untimed>, StoreClass>> = {
  enqueue: 'write',
  stage: 'write',
  claim: 'write',
  finish: 'write',
  progress: 'write',
  cancel: 'write',
  retry: 'write',
  runNow: 'write',
  delete: 'write',
  register: 'write',
  renew: 'heartbeat',
  deregister: 'write',
  reap: 'write',
  retain: 'write',
  fold: 'write',
  rollUp: 'write',
  record: 'write',
  declareQueues: 'write',
  changeQueue: 'write',
  assign: 'write',
  declareSchedules: 'write',
  createSchedule: 'write',
  changeSchedule: 'write',
  deleteSchedule: 'write',
  tick: 'write',
  scheduleFailed: 'write',
  declareLimits: 'write',
  createLimit: 'write',
  changeLimit: 'write',
  resetOverrides: 'write',
  deleteLimit: 'write',
  acquire: 'write',
  release: 'write',
  drain: 'write',
  get: 'read',
  results: 'read',
  holders: 'read',
  failures: 'read',
  history: 'read',
  list: 'read',
  counts: 'read',
  queues: 'read',
  instances: 'read',
  unservedKinds: 'read',
  now: 'read',
  position: 'read',
  held: 'read',
  duties: 'read',
  slots: 'read',
  schedules: 'read',
  ticks: 'read',
  limits: 'read',
  overrides: 'read',
  metrics: 'read',
  timeline: 'read',
}

type Method = (...args: unknown[]) => unknown
type Verb = (...args: unknown[]) => Promise<unknown>

interface Times extends VerbTimes {
  readonly histogram: Record<number, number>
  sumMs: number
}

export function storeTimings(platform: Platform): StoreTimings {
  let histograms: Record<string, Record<number, number>> = {}
  let failures = 0
  let failuresBefore = 0
  const verbs = new Map<string, Times>()

  function ended(verb: keyof typeof CLASS_OF, began: number): void {
    const ms = platform.monotonic() - began
    const bucket = bucketOf(ms)
    const histogram = (histograms[`store.${CLASS_OF[verb]}`] ??= {})
    histogram[bucket] = (histogram[bucket] ?? 0) + 1
    let times = verbs.get(verb)
    if (times === undefined) verbs.set(verb, (times = { histogram: {}, sumMs: 0 }))
    times.histogram[bucket] = (times.histogram[bucket] ?? 0) + 1
    times.sumMs += ms
  }

  function timed(store: Store<never>, verb: keyof typeof CLASS_OF): Verb {
    return (...args) => {
      const began = platform.monotonic()
      // Called synchronously: in a user transaction on SQLite the write must happen inside the call.
      const call = (store[verb] as Verb)(...args)
      call.then(
        () => ended(verb, began),
        (error: unknown) => {
          ended(verb, began)
          // A call that was refused because of its input counts as answered.
          if (!isDataError(error)) failures += 1
        },
      )
      return call
    }
  }

  return {
    around<S extends Store<never>>(store: S): S {
      // Inherits from the store instead of copying it: a custom store may be a class or have more members.
      const own = Object.create(store) as S
      const define = (key: string, value: unknown): void =>
        void Object.defineProperty(own, key, { value, enumerable: true })
      for (const verb of Object.keys(CLASS_OF) as (keyof typeof CLASS_OF)[]) define(verb, timed(store, verb))
      for (const key of ['open', 'close', 'wait', 'notify', 'forward'] as const)
        define(key, (...args: unknown[]) => (store[key] as Method)(...args))
      define('name', store.name)
      return own
    },
    take() {
      const more = failures - failuresBefore
      const counters = more === 0 ? {} : { counters: { 'store.failures': more } }
      const taken = Object.keys(histograms).length === 0 ? counters : { ...counters, histograms }
      histograms = {}
      failuresBefore = failures
      return taken
    },
    totals: () => ({ verbs, failures }),
  }
}
