/** Collects all problems of a config, so that an operator can fix them in one go. */
import { isJobmillError } from 'jobmill'
import { durationMs } from 'jobmill/internal'
import { nearest } from 'jobmill/cli'
import type { Problem } from './config.ts'

export type Problems = ReturnType<typeof collectProblems>

/** Reports the problems of one setting, section or variable. */
export type Place = ReturnType<Problems['at']>

export function collectProblems() {
  const problems: Problem[] = []
  return {
    problems,
    /** `place` is as in `Problem`. */
    at(place: string) {
      const add = (level: Problem['level']) => (problem: string, fix: string) =>
        void problems.push({ level, place, problem, fix })
      const error = add('error')
      return {
        place,
        error,
        warn: add('warning'),
        /** Runs a check of the library. Reports its error with this problem and its own fix. */
        check(problem: string, act: () => unknown): void {
          try {
            act()
          } catch (thrown) {
            if (!isJobmillError(thrown)) throw thrown
            error(problem, thrown.fix ?? '')
          }
        },
      }
    },
  }
}

/** Suggests the nearest known name and lists all of them. */
export function thereAre(name: unknown, known: readonly string[]): string {
  const near = typeof name === 'string' ? nearest(name, known) : undefined
  const all = `Use one of ${known.toSorted().join(', ')}`
  return near === undefined ? all : `Did you mean ${near}? ${all}`
}

/** Durations as in the rest of Jobmill: `'30s'`, `'1h30m'`. */
export function durationAt(value: unknown, otherwise: number, at: Place): number {
  if (value === undefined) return otherwise
  // In code, a bare number means milliseconds, which is rarely what a config intends.
  if (typeof value === 'number' && value !== 0) {
    at.error(`must have a unit (got ${value})`, `Write '${value}s', '${value}m' or '${value}h'`)
    return otherwise
  }
  try {
    return durationMs(value, at.place)
  } catch (error) {
    if (!isJobmillError(error)) throw error
    at.error(`must be a duration (got ${typeOf(value)})`, "Write a duration such as '30s', '2m' or '24h'")
    return otherwise
  }
}

export function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'a section'
  return JSON.stringify(value) ?? String(value)
}
