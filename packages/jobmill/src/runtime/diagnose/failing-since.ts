/**
 * Finds when a kind started to fail, and with which version of the application. Pure functions of metrics.
 */
import { type Attempts, attemptsOf } from '../../observe/attempts.ts'
import type { KindSeries } from '../report/series.ts'

type Points = KindSeries['points']

/**
 * A period proves that a kind worked only if, at the current failure rate, at least this many of its attempts
 * would have failed. Fewer attempts may have succeeded by chance.
 */
const EXPECTED_FAILURES = 5

const NONE: Attempts = { attempts: 0, failed: 0 }

/** Whether attempts fail at least half as often as now. */
function fails({ attempts, failed }: Attempts, share: number): boolean {
  return attempts > 0 && failed / attempts >= share / 2
}

function works(all: Attempts, share: number): boolean {
  return all.attempts * share >= EXPECTED_FAILURES && !fails(all, share)
}

/**
 * The start of the minute in which attempts began to fail as they do now. The search goes back in time until
 * enough attempts in a row worked. Null if attempts already failed in the first minute, which starts at
 * `from`.
 */
export function failingSince(points: Points, share: number, from: number): number | null {
  let sinceAt: number | null = null
  /** The attempts before the earliest failing minute that was found. */
  let before = NONE
  for (const { at, ended } of points.toReversed()) {
    before = sumOf([before, attemptsOf(ended)])
    if (fails(before, share)) {
      sinceAt = at
      before = NONE
    } else if (sinceAt !== null && works(before, share)) break
  }
  return sinceAt === null || sinceAt <= from ? null : sinceAt
}

interface Failures {
  /** The current share of attempts that fail. */
  readonly share: number
  readonly sinceAt: number | null
  /** The versions of the application, latest first. */
  readonly versions: readonly string[]
}

/**
 * The earliest version that fails, if an earlier version works, and if this version did not work before. Null
 * if the failures have another cause, or if there are too few attempts to tell.
 */
export function firstSeenWith(points: Points, { share, sinceAt, versions }: Failures): string | null {
  if (sinceAt === null) return null
  const before = byVersion(points.filter(({ at }) => at < sinceAt))
  const since = byVersion(points.filter(({ at }) => at >= sinceAt))
  const first = versions.findLast((version) => fails(since.get(version) ?? NONE, share))
  if (first === undefined || works(before.get(first) ?? NONE, share)) return null
  const earlier = versions.slice(versions.indexOf(first) + 1)
  const hasWorked = earlier.some((version) =>
    works(sumOf([before.get(version) ?? NONE, since.get(version) ?? NONE]), share),
  )
  return hasWorked ? first : null
}

function byVersion(points: Points): ReadonlyMap<string, Attempts> {
  const all = points.flatMap((point) => Object.entries(point.byVersion))
  const grouped = Map.groupBy(all, ([version]) => version)
  return new Map([...grouped].map(([version, own]) => [version, sumOf(own.map(([, one]) => one))]))
}

function sumOf(all: readonly Attempts[]): Attempts {
  return all.reduce(
    (sum, one) => ({ attempts: sum.attempts + one.attempts, failed: sum.failed + one.failed }),
    NONE,
  )
}
