/** Validates the timing of a schedule. */
import { JobmillError, quote } from '../errors.ts'
import { instantsOf, type Timing } from './instants.ts'
import { parseWhen, tidyWhen } from './parse-when.ts'

/** The expression in its stored form. */
export function checkWhen(when: unknown, field: string): string {
  parseWhen(when, field)
  return tidyWhen(String(when))
}

/**
 * Whether there is any instant between start and end. An end in the past is allowed, because code outlives
 * its schedules.
 */
export function checkTiming(timing: Timing, field: string): void {
  const { startAt, endAt } = timing
  if (startAt === null || endAt === null) return
  const end = new Date(endAt)
  if (startAt > endAt) {
    throw new JobmillError('OPTION_CONFLICT', 'must not be before start', {
      field: `${field}.end`,
      value: quote(end),
      fix: 'Pass an end after the start',
    })
  }
  if (instantsOf(timing, startAt).after(startAt - 1) !== null) return
  throw new JobmillError('SCHEDULE_INVALID', 'has no instant between start and end', {
    field: `${field}.when`,
    value: quote(timing.when),
    fix: `Change when, start, or end (${end.toISOString()})`,
  })
}
