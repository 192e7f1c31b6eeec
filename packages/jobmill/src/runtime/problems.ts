/** What is wrong with the options of a mill, all of it at once: errors stop it, warnings do not. */
import { type ErrorCode, isJobmillError, JobmillError } from '../job/errors.ts'

export interface Problem {
  readonly level: 'error' | 'warning'
  readonly code: ErrorCode
  /** Which option is meant, as a path. */
  readonly option: string
  readonly message: string
}

export interface Problems {
  readonly found: Problem[]
  /** Runs a check; what it refuses becomes a problem, and `otherwise` stands in for its value. */
  try<T>(option: string, otherwise: T, check: () => T): T
  add(level: Problem['level'], code: ErrorCode, option: string, message: string): void
}

export function problems(): Problems {
  const found: Problem[] = []
  return {
    found,
    try(option, otherwise, check) {
      try {
        return check()
      } catch (error) {
        if (!isJobmillError(error)) throw error
        const { code, field = option, message } = error
        found.push({ level: 'error', code, option: field, message })
        return otherwise
      }
    },
    add(level, code, option, message) {
      found.push({ level, code, option, message: `${option}: ${message}` })
    },
  }
}

/** Throws when there is an error among them. */
export function throwErrors(found: readonly Problem[]): void {
  const errors = found.filter(({ level }) => level === 'error')
  if (errors.length === 0) return
  const lines = errors.map(({ message }) => `\n  ${message}`).join('')
  throw new JobmillError('OPTIONS_INVALID', `the options cannot be used:${lines}`, { problems: found })
}
