/** Parses the values of options: numbers, durations, JSON, instants. The library checks their meaning. */
import { type Duration, durationMs, instantAt } from '../../job/duration.ts'
import { JobmillError, quote } from '../../job/errors.ts'
import type { ParsedArguments } from './command.ts'
import { invalid } from './invalid.ts'

export function numberOf(parsed: ParsedArguments, option: string): number | undefined {
  const text = parsed.text(option)
  if (text === undefined) return undefined
  if (/^-?\d{1,15}$/.test(text)) return Number(text)
  const fix = 'Use a whole number of at most 15 digits'
  throw invalid(`--${option}`, 'must be a whole number', fix, text, 'NUMBER_INVALID')
}

/**
 * Parses a duration. The library reads a number as milliseconds, but a user who types `--retain-dead 7` means
 * days, so a unit is required.
 */
export function lengthOf(parsed: ParsedArguments, option: string): Duration | undefined {
  const text = parsed.text(option)
  return text === undefined ? undefined : asLength(text, `--${option}`)
}

export function asLength(text: string, field: string): Duration {
  if (!/^\d{1,15}(?:\.\d{1,15})?$/.test(text)) return text
  const fix = `Use ${text}ms, ${text}s, ${text}m, ${text}h or ${text}d`
  throw invalid(field, `has no unit`, fix, text, 'DURATION_INVALID')
}

const QUOTED = `Quote JSON for the shell, such as '{"to":"ada"}', or '"ada"' for a string`

export function jsonOf(text: string, field: string, fix: string = QUOTED): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new JobmillError('PAYLOAD_NOT_JSON', 'is not valid JSON', {
      field,
      value: quote(text),
      fix,
      cause: error,
    })
  }
}

/**
 * Parses an instant with a time zone, a duration before now, or a time of day: the most recent one on the
 * clock of this machine.
 */
export function momentOf(parsed: ParsedArguments, option: string, now: number): number | undefined {
  const text = parsed.text(option)
  if (text === undefined) return undefined
  const field = `--${option}`
  if (/^\d{4}-/.test(text)) return instantAt(text, field)
  if (/[a-z]$/.test(text)) return now - durationMs(text, field)
  const clock = /^(\d{1,2}):([0-5]\d)(?::([0-5]\d))?$/.exec(text)
  if (clock !== null && Number(clock[1]) < 24) return lastTimeOf(clock.slice(1).map(Number), now)
  const fix = 'Use 2027-01-31T09:00:00Z, 2h for two hours ago, or 02:13 for the most recent 02:13 local time'
  throw invalid(field, 'must be an instant or a duration', fix, text, 'INSTANT_INVALID')
}

function lastTimeOf([hours = 0, minutes = 0, seconds = 0]: readonly number[], now: number): number {
  const date = new Date(now)
  date.setHours(hours, minutes, seconds || 0, 0)
  if (date.getTime() > now) date.setDate(date.getDate() - 1)
  return date.getTime()
}
