/** Validates the timing of a schedule. */
import { invalidValue } from '../errors.ts'
import { instantsOf, type Timing } from './instants.ts'
import { parseWhen, tidyWhen } from './parse-when.ts'

/** The expression in its stored form. */
export function checkWhen(when: unknown, field: string): string {
  parseWhen(when, field)
  return tidyWhen(String(when))
}

/**
 * Throws if the schedule has no instant between start and end. An end in the past is allowed, because code
 * outlives its schedules.
 */
export function checkTiming(timing: Timing, field: string): void {
  const { startAt, endAt } = timing
  if (startAt === null || endAt === null) return
  const end = new Date(endAt)
  if (startAt > endAt) {
    const fix = 'Pass an end after the start'
    throw invalidValue(`${field}.end`, end, 'must not be before start', fix, 'OPTION_CONFLICT')
  }
  if (instantsOf(timing, startAt).after(startAt - 1) !== null) return
  const fix = `Change when, start, or end (${end.toISOString()})`
  const what = 'never runs between start and end'
  throw invalidValue(`${field}.when`, timing.when, what, fix, 'SCHEDULE_INVALID')
}
