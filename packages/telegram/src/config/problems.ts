/** Collects all problems of a config, so that an operator can fix them in one go. */
import { isJobmillError } from 'jobmill'
import { durationMs } from 'jobmill/internal'
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

/** Suggests the nearest known name and lists all of them. */
export function thereAre(name: unknown, known: readonly string[]): string {
  const near = typeof name === 'string' ? nearest(name, known) : undefined
  const all = `Use one of ${known.toSorted().join(', ')}`
  return near === undefined ? all : `Did you mean ${near}? ${all}`
}

/** Durations as in the rest of Jobmill: `'30s'`, `'1h30m'`. */
export function durationAt(value: unknown, otherwise: number, place: string, found: Problems): number {
  if (value === undefined) return otherwise
  // In code, a bare number means milliseconds, which is rarely what a config intends.
  if (typeof value === 'number' && value !== 0) {
    found.error(place, `must have a unit (got ${value})`, `Write '${value}s', '${value}m' or '${value}h'`)
    return otherwise
  }
  try {
    return durationMs(value, place)
  } catch (error) {
    if (!isJobmillError(error)) throw error
    found.error(place, `must be a duration (got ${typeOf(value)})`, "Write '30s', '2m' or '24h'")
    return otherwise
  }
}

export function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'a section'
  return JSON.stringify(value) ?? String(value)
}
