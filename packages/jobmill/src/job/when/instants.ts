/** The ticks of a schedule: the instants of its expression between its start and its end. */
import { BOUNDS } from '../defaults.ts'
import type { ScheduleDefinition } from '../schedule/schedule.ts'
import { calendarInstants } from './calendar-instants.ts'
import { parseWhen } from './parse-when.ts'

export type Timing = Pick<ScheduleDefinition, 'when' | 'zone' | 'startAt' | 'endAt'>

export type Instants = ReturnType<typeof instantsOf>

const MOST_COUNTED = 10_000

/** Intervals count from the start, or from the creation of the schedule. */
export function instantsOf(timing: Timing, createdAt: number) {
  const { startAt, endAt } = timing
  const when = parseWhen(timing.when)
  const following =
    when.type === 'interval'
      ? intervalInstants(when.ms, startAt ?? createdAt + when.ms)
      : calendarInstants(when, timing.zone)

  /** The first tick after this instant; null when there is none. */
  function after(at: number): number | null {
    const next = following(startAt === null ? at : Math.max(at, startAt - 1))
    return next === null || next > (endAt ?? BOUNDS.lastInstantAt) ? null : next
  }

  /** The last tick before `before`; `from` must be a tick. */
  function lastBefore(before: number, from: number): number {
    let [low, high] = [from, before]
    for (;;) {
      const following = after(low)
      if (following === null || following >= before) return low
      low = following
      // Bisects, because a year can have 30 million ticks.
      while (high - low > 1) {
        const middle = Math.floor((low + high) / 2)
        const next = after(middle)
        if (next === null || next >= before) high = middle
        else low = next
      }
    }
  }

  /** The number of ticks from `from` (a tick) until before `before`; a calendar counts up to 10,000. */
  function count(from: number, before: number): number {
    const end = Math.min(before, (endAt ?? BOUNDS.lastInstantAt) + 1)
    if (when.type === 'interval') return Math.max(0, Math.ceil((end - from) / when.ms))
    let found = 0
    for (let at: number | null = from; at !== null && at < end && found < MOST_COUNTED; at = after(at))
      found += 1
    return found
  }

  return { after, lastBefore, count }
}

function intervalInstants(ms: number, firstAt: number): (after: number) => number {
  return (after) => firstAt + Math.max(0, Math.floor((after - firstAt) / ms) + 1) * ms
}

/** The next ticks after `from`, up to `count`. */
export function nextRuns(
  timing: Timing,
  { from, count, createdAt }: { readonly from: number; readonly count: number; readonly createdAt: number },
): number[] {
  const { after } = instantsOf(timing, createdAt)
  const runs: number[] = []
  for (let at = after(from); at !== null && runs.length < count; at = after(at)) runs.push(at)
  return runs
}
