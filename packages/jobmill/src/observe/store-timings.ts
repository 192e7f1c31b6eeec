/** Store latency and failures as this process measures them. Timing adds no waits. */
import { isDataError } from '../job/errors.ts'
import { bucketOf, type MetricData } from '../job/metric-data.ts'
import type { Platform } from '../platform/platform.ts'
import type { FullStore } from '../store/store.ts'
import { ALL_VERBS, aroundVerbs, type Verb, VERBS } from '../store/verbs.ts'

export interface StoreTotals {
  /** Keyed by verb. Contains only verbs that were called. */
  readonly verbs: ReadonlyMap<string, VerbTimes>
  readonly failures: number
}

interface VerbTimes {
  readonly histogram: Readonly<Record<number, number>>
  /** The sum of the times, in ms. */
  readonly sumMs: number
}

export const STORE_CLASSES = ['read', 'write', 'heartbeat'] as const

interface Times extends VerbTimes {
  readonly histogram: Record<number, number>
  sumMs: number
}

const TIMED = ALL_VERBS.filter((verb) => VERBS[verb] !== null)

export function storeTimings(platform: Platform) {
  let histograms: Record<string, Record<number, number>> = {}
  let failures = 0
  let failuresBefore = 0
  const verbs = new Map<string, Times>()

  function ended(verb: Verb, began: number): void {
    const ms = platform.monotonic() - began
    const bucket = bucketOf(ms)
    const histogram = (histograms[`store.${VERBS[verb]}`] ??= {})
    histogram[bucket] = (histogram[bucket] ?? 0) + 1
    let times = verbs.get(verb)
    if (times === undefined) verbs.set(verb, (times = { histogram: {}, sumMs: 0 }))
    times.histogram[bucket] = (times.histogram[bucket] ?? 0) + 1
    times.sumMs += ms
  }

  return {
    /** Returns the same store with timing. */
    around: <S extends FullStore<never>>(store: S): S =>
      aroundVerbs(store, TIMED, (verb, call) => (...args) => {
        const began = platform.monotonic()
        const reply = call(...args)
        reply.then(
          () => ended(verb, began),
          (error: unknown) => {
            ended(verb, began)
            // A call that was refused because of its input counts as answered.
            if (!isDataError(error)) failures += 1
          },
        )
        return reply
      }),
    /** Returns the metrics collected since the last call. */
    take: (): MetricData => {
      const more = failures - failuresBefore
      const counters = more === 0 ? {} : { counters: { 'store.failures': more } }
      const taken = Object.keys(histograms).length === 0 ? counters : { ...counters, histograms }
      histograms = {}
      failuresBefore = failures
      return taken
    },
    /** Totals since the start of this process. */
    totals: (): StoreTotals => ({ verbs, failures }),
  }
}
