/** Shared by the tests of this folder: a fake clock, events to emit, and the histogram of a list of times. */
import type { EventTable } from '../../src/job/events.ts'
import { bucketOf } from '../../src/job/metric-data.ts'
import { type Platform, systemPlatform } from '../../src/platform/platform.ts'
import { testPlatform } from '../../src/testing/index.ts'

export interface Clock extends Platform {
  readonly now: () => number
  readonly advance: (ms: number) => void
}

/** The start of an hour. */
export const START_AT = 1_000_000_800_000

/** Stops until it is advanced. Both clocks advance together, unless only the wall clock is to step. */
export function aClock(): Clock & { readonly step: (ms: number) => void } {
  let passed = 0
  let stepped = 0
  return {
    ...systemPlatform,
    gauges: () => testPlatform().gauges(),
    now: () => START_AT + passed + stepped,
    monotonic: () => passed,
    advance: (ms) => void (passed += ms),
    step: (ms) => void (stepped += ms),
  }
}

export function attemptIn(queue: string) {
  return { id: systemPlatform.id(), kind: 'work', queue, attempt: 1, maxAttempts: 5 }
}

export function started(queue: string, waitedMs = 0): EventTable['started'] {
  return { ...attemptIn(queue), crashes: 0, waitedMs }
}

export function finished(queue: string, ranMs = 0, totalMs = ranMs): EventTable['finished'] {
  return { ...attemptIn(queue), ranMs, totalMs, notKept: null }
}

export function histogramOf(times: readonly number[]): Record<string, number> {
  const histogram: Record<string, number> = {}
  for (const ms of times) histogram[bucketOf(ms)] = (histogram[bucketOf(ms)] ?? 0) + 1
  return histogram
}
