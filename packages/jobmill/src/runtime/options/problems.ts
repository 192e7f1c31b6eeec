/** Collects all problems in the options of a mill. Errors prevent its creation, warnings do not. */
import { type ErrorCode, isJobmillError, JobmillError, quote } from '../../job/errors.ts'
import { checkObjectKeys, isOptions, unknownKeys } from '../../job/options/known-keys.ts'

export interface Problem {
  readonly level: 'error' | 'warning'
  readonly code: ErrorCode
  /** The path of the option. */
  readonly option: string
  readonly message: string
}

export interface Problems {
  readonly found: Problem[]
  /** Runs a check. If it throws, the error becomes a problem and `otherwise` is returned. */
  try<T>(option: string, otherwise: T, check: () => T): T
  /** The same for an option that may be omitted. */
  option<V, T>(value: V | undefined, option: string, otherwise: T, check: (value: V, option: string) => T): T
  /** The items of an array. Keeps holes, so that they are rejected by index. */
  items(value: unknown, option: string): unknown[]
  /** Reports all unknown keys. Returns false for a value that is not an object. */
  keys(value: unknown, field: string, known: readonly string[]): value is object
  /** Expects an object with an entry for each name. Returns false for anything else. */
  names(value: unknown, field: string, example: string): value is object
  /** Returns a function that reports a name that it has seen before, or that is taken. */
  unique(code: ErrorCode, use: string, taken?: readonly string[]): (name: string, option: string) => void
  add(level: Problem['level'], code: ErrorCode, option: string, message: string): void
}

export function problems(): Problems {
  const found: Problem[] = []
  const push = (option: string, { code, field = option, message }: JobmillError): void =>
    void found.push({ level: 'error', code, option: field, message })
  return {
    found,
    try(option, otherwise, check) {
      try {
        return check()
      } catch (error) {
        if (!isJobmillError(error)) throw error
        push(option, error)
        return otherwise
      }
    },
    option(value, option, otherwise, check) {
      return value === undefined ? otherwise : this.try(option, otherwise, () => check(value, option))
    },
    items(value, option) {
      if (Array.isArray(value)) return Array.from(value as unknown[])
      this.add('error', 'OPTION_INVALID', option, `must be an array (got ${quote(value)}). Pass [ … ]`)
      return []
    },
    keys(value, field, known): value is object {
      if (!isOptions(value)) {
        this.try(field, undefined, () => checkObjectKeys(value, field, known))
        return false
      }
      for (const error of unknownKeys(value, field, known)) push(field, error)
      return true
    },
    names(value, field, example): value is object {
      if (isOptions(value)) return true
      const what = `must be an object with an entry for each name (got ${quote(value)}). Pass ${example}`
      this.add('error', 'OPTION_INVALID', field, what)
      return false
    },
    unique(code, use, taken = []) {
      const seen = new Set(taken)
      return (name, option) => {
        if (seen.has(name)) this.add('error', code, option, `is already in use: "${name}". Use ${use}`)
        seen.add(name)
      }
    },
    add(level, code, option, message) {
      found.push({ level, code, option, message: `${option}: ${message}` })
    },
  }
}

/** Throws if any problem is an error. */
export function throwErrors(found: readonly Problem[]): void {
  const errors = found.filter(({ level }) => level === 'error')
  if (errors.length === 0) return
  // The error adds a period of its own.
  const lines = errors
    .map(({ message }) => `\n  ${message}`)
    .join('')
    .replace(/\.$/, '')
  throw new JobmillError('OPTIONS_INVALID', `invalid options:${lines}`, { problems: found })
}
