/** What options hold, read as what is meant: numbers, JSON, instants. The rest is checked by whoever takes it. */
import { type Duration, durationMs, instantAt } from '../job/duration.ts'
import { JobmillError, shown } from '../job/errors.ts'
import type { Given } from './command.ts'

export function numberOf(given: Given, option: string): number | undefined {
  const text = given.text(option)
  if (text === undefined) return undefined
  if (/^-?\d{1,15}$/.test(text)) return Number(text)
  throw new JobmillError('NUMBER_INVALID', 'is not a whole number', {
    field: `--${option}`,
    value: shown(text),
    fix: 'Give digits only',
  })
}

/** A length of time. The library reads a number as milliseconds; a person who types `--retain-dead 7` means days, so a unit is required. */
export function lengthOf(given: Given, option: string): Duration | undefined {
  const text = given.text(option)
  return text === undefined ? undefined : asLength(text, `--${option}`)
}

export function asLength(text: string, field: string): Duration {
  if (!/^\d{1,15}(?:\.\d{1,15})?$/.test(text)) return text
  throw new JobmillError('DURATION_INVALID', `${text} has no unit`, {
    field,
    fix: `Use ${text}ms, ${text}s, ${text}m, ${text}h or ${text}d`,
  })
}

const QUOTED = `Quote it for the shell: '{"to":"ada"}', and a text twice: '"ada"'`

export function jsonOf(text: string, field: string, fix: string = QUOTED): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new JobmillError('PAYLOAD_NOT_JSON', 'is not JSON', {
      field,
      value: shown(text),
      fix,
      cause: error,
    })
  }
}

/** An instant with its zone, or how long ago. */
export function momentOf(given: Given, option: string, now: number): number | undefined {
  const text = given.text(option)
  if (text === undefined) return undefined
  const field = `--${option}`
  if (/^\d{4}-/.test(text)) return instantAt(text, field)
  if (/[a-z]$/.test(text)) return now - durationMs(text, field)
  throw new JobmillError('INSTANT_INVALID', 'is neither an instant nor a length of time', {
    field,
    value: shown(text),
    fix: 'Give 2027-01-31T09:00:00Z, or 2h for two hours ago',
  })
}

type Said<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** Only what was said: the library tells what is left out from what is undefined. */
export function said<T extends object>(values: T): Said<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Said<T>
}
