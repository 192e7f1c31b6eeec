/** Collects everything that is wrong with a config, so that nobody has to mend it one error at a time. */
import { durationMs, isJobmillError } from 'jobmill'
import { nearest } from 'jobmill/cli'
import type { Problem } from './config.ts'

export interface Problems {
  readonly problems: Problem[]
  readonly error: (place: string, problem: string, fix: string) => void
  readonly warn: (place: string, problem: string, fix: string) => void
}

export function collectProblems(): Problems {
  const problems: Problem[] = []
  return {
    problems,
    error: (place, problem, fix) => void problems.push({ level: 'error', place, problem, fix }),
    warn: (place, problem, fix) => void problems.push({ level: 'warning', place, problem, fix }),
  }
}

/** The nearest that there is, for who has mistyped it; and all of them. */
export function thereAre(name: unknown, known: readonly string[]): string {
  const near = typeof name === 'string' ? nearest(name, known) : undefined
  const all = `There are ${known.toSorted().join(', ')}`
  return near === undefined ? all : `Did you mean ${near}? ${all}`
}

/** Durations as everywhere in Jobmill: `'30s'`, `'1h30m'`, milliseconds. */
export function durationAt(value: unknown, otherwise: number, place: string, found: Problems): number {
  if (value === undefined) return otherwise
  // Milliseconds in a program; here nobody means them.
  if (typeof value === 'number' && value !== 0) {
    found.error(place, `is ${value} without a unit`, `Write '${value}s', '${value}m' or '${value}h'`)
    return otherwise
  }
  try {
    return durationMs(value, place)
  } catch (error) {
    if (!isJobmillError(error)) throw error
    found.error(
      place,
      `is no duration that can be used (${typeOf(value)})`,
      "Write '30s', '2m' or '24h'; not negative",
    )
    return otherwise
  }
}

export function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'a section'
  return JSON.stringify(value) ?? String(value)
}
