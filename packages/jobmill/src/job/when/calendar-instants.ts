/**
 * The instants of a cron expression in a time zone. croner finds the days on a calendar without clock
 * changes; this file applies the rule for clock changes of docs/learn/schedules.md:
 * - Named or stepped hours: times in the gap run once, together, at the first instant after it. A time that
 * occurs twice runs only the first time.
 * - Every hour: by elapsed time. Nothing runs for the gap; times that occur twice run twice.
 */
import { Cron } from 'croner'
import type { Field } from './fields.ts'
import type { Calendar } from './parse-when.ts'
import { type LocalTimeMatch, zoneClock } from './zone-clock.ts'

/** The first instant after another; null when there is none for centuries. */
export function calendarInstants(calendar: Calendar, zone: string): (after: number) => number | null {
  const { offsetAt, meet } = zoneClock(zone)
  const nextWall = wallTimes(calendar)
  const { hours } = calendar

  function instantOf(met: LocalTimeMatch, after: number): number | null {
    if (met.type === 'once') return met.at
    if (met.type === 'never') return hours === 'every' ? null : met.changeAt
    return hours !== 'every' || met.first > after ? met.first : met.second
  }

  /**
   * For an instant whose wall time will occur again: the first tick from the clock change until the end of
   * the times that occur twice.
   */
  function inRepetition(after: number, wall: number): number | null {
    const met = meet(Math.floor(wall / SECOND) * SECOND)
    if (hours !== 'every' || met.type !== 'twice' || after >= met.changeAt) return null
    const beginning = met.until - (met.second - met.first)
    const again = nextWall(beginning - 1)
    return again === null || again >= met.until ? null : met.changeAt + (again - beginning)
  }

  return (after) => {
    let wall = after + offsetAt(after)
    const repeated = inRepetition(after, wall)
    for (;;) {
      const next = nextWall(wall)
      if (next === null) return repeated
      const met = meet(next)
      const at = instantOf(met, after)
      if (at !== null && at > after) return repeated === null ? at : Math.min(at, repeated)
      wall = met.type === 'once' ? next : met.until - 1
    }
  }
}

const SECOND = 1_000

/** The first matching wall time after another. */
function wallTimes(calendar: Calendar): (after: number) => number | null {
  const { second, minute, hour, day, month, weekday } = calendar
  const pattern = [second, minute, hour, day, month, weekday].map(patternOf).join(' ')
  const cron = new Cron(pattern, { mode: '6-part', utcOffset: 0, domAndDow: !calendar.eitherDay })
  return (after) => cron.nextRun(new Date(after))?.getTime() ?? null
}

function patternOf(field: Field): string {
  // Only a star leaves a field unrestricted, as in cron. So `0 0 L * 0-6` runs every day: one match is
  // enough.
  if (field.isFull && field.hasStar) return '*'
  return [...field.values, ...(field.last ? ['L'] : [])].join(',')
}
