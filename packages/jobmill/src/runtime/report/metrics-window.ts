/**
 * Chooses the buckets for a time window: the finest that suit its length and are still kept for its start.
 */
import { BOUNDS, DEFAULTS } from '../../job/defaults.ts'
import { durationMs, instantAt } from '../../job/duration.ts'
import { invalidValue } from '../../job/errors.ts'
import { type Resolution, RESOLUTIONS } from '../../store/types/metrics.ts'

export type MetricsWindow = ReturnType<typeof windowOf>

const HOUR = 60 * 60_000
const [TEN_SECONDS, MINUTE, , LARGEST] = RESOLUTIONS

/** The longest window for each bucket size, and how long those buckets are kept. */
const FINER = [
  { resolution: TEN_SECONDS, longestMs: HOUR, keptMs: DEFAULTS.retainTenSecondsMs },
  { resolution: MINUTE, longestMs: 48 * HOUR, keptMs: DEFAULTS.retainMinutesMs },
] as const

export function windowOf(
  query: { readonly from?: unknown; readonly to?: unknown; readonly resolution?: unknown },
  now: number,
) {
  const to = query.to === undefined ? null : instantAt(query.to, 'to')
  const until = to ?? now
  const asked = query.from === undefined ? Math.max(0, until - HOUR) : instantAt(query.from, 'from')
  if (to !== null && asked >= to) {
    const fix = 'Pass a later instant, or omit it'
    throw invalidValue('to', query.to, 'must be after "from"', fix, 'INSTANT_INVALID')
  }
  const resolution =
    query.resolution === undefined ? suiting(asked, until, now) : checkResolution(query.resolution)
  return {
    resolution,
    /** The size of the stored buckets that are merged. */
    stored: storedFor(resolution) ?? TEN_SECONDS,
    /** The start of the first bucket. */
    from: asked - (asked % resolution),
    to,
    /** Buckets start before this. No end without `to`, because the clock of this process may be behind. */
    before: to ?? BOUNDS.lastInstantAt,
  }
}

function suiting(from: number, until: number, now: number): Resolution {
  const fine = FINER.find(({ longestMs, keptMs }) => until - from <= longestMs && now - from <= keptMs)
  return fine?.resolution ?? LARGEST
}

/** Refuses very long buckets, because a bucket must begin at a multiple of its length. */
const LONGEST = 30 * 24 * HOUR

function checkResolution(value: unknown): number {
  const ms = durationMs(value, 'resolution')
  if (storedFor(ms) !== undefined && ms <= LONGEST) return ms
  const fix = "Use a multiple of 10 s of at most 30 days, such as '10s', '5m' or '1h'"
  throw invalidValue('resolution', value, 'is not a supported resolution', fix)
}

/** The largest stored buckets that add up to buckets of this length. */
function storedFor(resolution: number): Resolution | undefined {
  return RESOLUTIONS.findLast((one) => resolution >= one && resolution % one === 0)
}
