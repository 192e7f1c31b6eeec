/** How long things beside jobs are kept. */
import { DEFAULTS } from '../job/defaults.ts'
import { type Duration, durationMs } from '../job/duration.ts'
import { JobmillError, shown } from '../job/errors.ts'
import type { RetainRequest } from '../store/replies.ts'
import type { Problems } from './problems.ts'

export interface RetainOptions {
  /** How often a pass is made (default 5 min). */
  readonly every?: Duration
  /** Events of the timeline (default 30 days). */
  readonly events?: Duration
  /** Notes of which planned instants of schedules were served (default 30 days). */
  readonly ticks?: Duration
  /** Figures by the hour (default 30 days). Those by the minute and by 10 s are kept for a quarter and a hundredth of that, about. */
  readonly metrics?: Duration
}

export interface ResolvedRetain {
  readonly everyMs: number
  readonly ages: Omit<RetainRequest, 'limit'>
}

/** More often would be a loop. */
const SHORTEST_MS = 1_000

function everyMs(every: Duration | undefined, found: Problems): number {
  if (every === undefined) return DEFAULTS.retainEveryMs
  return found.try('retain.every', DEFAULTS.retainEveryMs, () => {
    const ms = durationMs(every, 'retain.every')
    if (ms >= SHORTEST_MS) return ms
    throw new JobmillError('DURATION_INVALID', `is shorter than ${SHORTEST_MS} ms`, {
      field: 'retain.every',
      value: shown(every),
      fix: "Give a duration such as '1m'",
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
  // Finer figures age in the same proportion.
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
