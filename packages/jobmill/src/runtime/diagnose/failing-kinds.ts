/** Finds the kinds whose attempts fail, and the severity, from their metrics per minute. */
import { countText } from '../../job/text/count-text.ts'
import { safeLine } from '../../job/text/safe-text.ts'
import { type Attempts, attemptsOf } from '../../observe/attempts.ts'
import type { KindSeries } from '../report/series.ts'

/** The window in which the share of failed attempts counts. */
export const FAILING_MS = 10 * 60_000
/** How far back the start of the failures is searched. */
export const SINCE_MS = 6 * 60 * 60_000
/** Fewer attempts than this are too few to judge: a single job with five attempts is not an incident. */
const LEAST_ATTEMPTS = 10
/** With at least this share of failed attempts, a kind or a queue is failing. */
const FAILING_SHARE = 0.5
/** With at least this share, it is degraded. */
const DEGRADED_SHARE = 0.1
/** A kind recovered if at least `LEAST_RECENT` attempts ended in this time, and few of them failed. */
const RECENT_MS = 3 * 60_000
const LEAST_RECENT = 5
const MINUTE = 60_000
const SHOWN_CHARS = 160

/** The attempts of a minute that starts at `at`. */
export interface AttemptsAt extends Attempts {
  readonly at: number
}

/** `error`: failing. `warning`: degraded. */
export type FailingLevel = 'error' | 'warning'

export interface FailingKind extends Attempts {
  readonly kind: string
  readonly level: FailingLevel
  /** Failed attempts per minute, for the order. */
  readonly perMinute: number
}

export interface ExplainedKind extends FailingKind {
  /** Null for all but the worst kinds, because it takes further reads. */
  readonly explanation: Explanation | null
}

export interface Explanation {
  /** The minute in which the failures began; null if they began before `SINCE_MS` ago. */
  readonly sinceAt: number | null
  /**
   * The version of the application with which they began; null if they have another cause, or if it is
   * unknown.
   */
  readonly firstSeenWith: string | null
  /** The most frequent error among the latest ones; null if there is none. */
  readonly error: string | null
}

/**
 * The severity of the failures. Null for a kind or a queue that works, that has recovered, or that has too
 * few ended attempts.
 */
export function levelNow(all: Attempts, points: readonly AttemptsAt[], now: number): FailingLevel | null {
  const level = levelOf(all)
  return level === null || hasRecovered(points, now) ? null : level
}

export function levelOf({ attempts, failed }: Attempts): FailingLevel | null {
  if (attempts < LEAST_ATTEMPTS) return null
  const share = failed / attempts
  if (share >= FAILING_SHARE) return 'error'
  return share >= DEGRADED_SHARE ? 'warning' : null
}

/** Worst first: failing kinds before degraded ones, then by failed attempts per minute. */
export function failingKinds(series: readonly KindSeries[], now: number): FailingKind[] {
  const found = series.flatMap(({ kind, all, points }) => {
    const counted = attemptsOf(all.ended)
    const level = levelNow(counted, points.map(attemptsAt), now)
    if (level === null) return []
    return [{ kind, level, ...counted, perMinute: counted.failed / (FAILING_MS / MINUTE) }]
  })
  return found.toSorted(
    (a, b) =>
      Number(b.level === 'error') - Number(a.level === 'error') ||
      b.perMinute - a.perMinute ||
      (a.kind < b.kind ? -1 : 1),
  )
}

export function attemptsAt({ at, ended }: KindSeries['points'][number]): AttemptsAt {
  return { at, ...attemptsOf(ended) }
}

function hasRecovered(points: readonly AttemptsAt[], now: number): boolean {
  const recent = points.filter(({ at }) => at > now - RECENT_MS)
  const attempts = recent.reduce((sum, one) => sum + one.attempts, 0)
  const failed = recent.reduce((sum, one) => sum + one.failed, 0)
  return attempts >= LEAST_RECENT && failed / attempts < DEGRADED_SHARE
}

export function failingText({ kind, attempts, failed, explanation }: ExplainedKind, now: number): string {
  const share = `${Math.floor((failed / attempts) * 100)}% of ${countText(attempts, 'attempt')}`
  const head = `${kind}: ${share} failed in the last ${FAILING_MS / MINUTE} min`
  if (explanation === null) return head
  const { sinceAt, firstSeenWith, error } = explanation
  const since =
    sinceAt === null ? `for more than ${SINCE_MS / 3_600_000} h` : `since ${clockText(sinceAt, now)}`
  const version = firstSeenWith === null ? '' : `, first seen with ${safeLine(firstSeenWith)}`
  const text = `${head}, ${since}${version}`
  if (error === null) return text
  const line = safeLine(error.split('\n', 1)[0] ?? '')
  return `${text}. ${line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS - 1).toWellFormed()}…` : line}`
}

/** `02:13 UTC`, with the date if it was on another day. */
function clockText(at: number, now: number): string {
  const [day = '', time = ''] = new Date(at).toISOString().split('T')
  const today = new Date(now).toISOString().slice(0, day.length)
  return `${day === today ? '' : `${day} `}${time.slice(0, 5)} UTC`
}
