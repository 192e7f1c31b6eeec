/** The option `retain`: retention of everything except jobs. */
import { BOUNDS, DEFAULTS } from '../../job/defaults.ts'
import { type Duration, durationMs } from '../../job/duration.ts'
import type { RetainRequest } from '../../store/types/replies.ts'
import { periodMs } from './duty-options.ts'
import type { Problems } from './problems.ts'

export interface RetainOptions {
  /** How often a pass runs (default 5 min). */
  readonly every?: Duration
  /** How long timeline events are kept (default 30 days). */
  readonly events?: Duration
  /** How long records of served schedule ticks are kept (default 30 days). */
  readonly ticks?: Duration
  /**
   * How long hourly metrics are kept (default 30 days). Metrics by the minute and by 5 minutes are
   * kept for about a quarter of that, 10-second metrics for about a hundredth.
   */
  readonly metrics?: Duration
}

export function retainOptions(options: RetainOptions, found: Problems) {
  const given = found.keys(options, 'retain', ['every', 'events', 'ticks', 'metrics']) ? options : {}
  const ms = (key: keyof RetainOptions, otherwise: number): number =>
    found.option(given[key], `retain.${key}`, otherwise, durationMs)
  const hoursMs = ms('metrics', DEFAULTS.retainHoursMs)
  // Finer metrics expire in the same proportion.
  const scaled = (of: number): number => Math.round((of * hoursMs) / DEFAULTS.retainHoursMs)
  const ages: Omit<RetainRequest, 'limit'> = {
    ticksMs: ms('ticks', DEFAULTS.retainTicksMs),
    eventsMs: ms('events', DEFAULTS.retainEventsMs),
    metricsMs: [
      scaled(DEFAULTS.retainTenSecondsMs),
      scaled(DEFAULTS.retainMinutesMs),
      scaled(DEFAULTS.retainFiveMinutesMs),
      hoursMs,
    ],
  }
  return {
    ages,
    everyMs: found.option(given.every, 'retain.every', DEFAULTS.retainEveryMs, (every, field) =>
      periodMs(every, field, BOUNDS.shortestRetainMs, "Pass a duration such as '1m'"),
    ),
  }
}
