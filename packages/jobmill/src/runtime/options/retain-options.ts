/** The option `retain`: retention of everything except jobs. */
import { BOUNDS, DEFAULTS } from '../../job/defaults.ts'
import { type Duration, durationMs } from '../../job/duration.ts'
import { JobmillError, quote } from '../../job/errors.ts'
import type { RetainRequest } from '../../store/types/replies.ts'
import type { Problems } from './problems.ts'

export interface RetainOptions {
  /** How often a pass runs (default 5 min). */
  readonly every?: Duration
  /** How long timeline events are kept (default 30 days). */
  readonly events?: Duration
  /** How long records of served schedule ticks are kept (default 30 days). */
  readonly ticks?: Duration
  /**
   * How long hourly metrics are kept (default 30 days). Minute metrics are kept for about a quarter of that,
   * 10-second metrics for about a hundredth.
   */
  readonly metrics?: Duration
}

export interface ResolvedRetain {
  readonly everyMs: number
  readonly ages: Omit<RetainRequest, 'limit'>
}

function everyMs(every: Duration | undefined, found: Problems): number {
  if (every === undefined) return DEFAULTS.retainEveryMs
  return found.try('retain.every', DEFAULTS.retainEveryMs, () => {
    const ms = durationMs(every, 'retain.every')
    if (ms >= BOUNDS.shortestRetainMs) return ms
    throw new JobmillError('DURATION_INVALID', `must be at least ${BOUNDS.shortestRetainMs} ms`, {
      field: 'retain.every',
      value: quote(every),
      fix: "Pass a duration such as '1m'",
    })
  })
}

export function retainOptions(options: RetainOptions, found: Problems): ResolvedRetain {
  const given = found.keys(options, 'retain', ['every', 'events', 'ticks', 'metrics']) ? options : {}
  const ms = (key: keyof RetainOptions, otherwise: number): number => {
    const value = given[key]
    return value === undefined
      ? otherwise
      : found.try(`retain.${key}`, otherwise, () => durationMs(value, `retain.${key}`))
  }
  const hoursMs = ms('metrics', DEFAULTS.retainHoursMs)
  // Finer metrics expire in the same proportion.
  const scaled = (of: number): number => Math.round((of * hoursMs) / DEFAULTS.retainHoursMs)
  return {
    everyMs: everyMs(given.every, found),
    ages: {
      ticksMs: ms('ticks', DEFAULTS.retainTicksMs),
      eventsMs: ms('events', DEFAULTS.retainEventsMs),
      metricsMs: [scaled(DEFAULTS.retainTenSecondsMs), scaled(DEFAULTS.retainMinutesMs), hoursMs],
    },
  }
}
