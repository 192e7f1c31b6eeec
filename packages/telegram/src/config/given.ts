/** What can stand in the YAML or in a variable: the YAML counts, and a problem is told where it was written. */
import type { Section } from './section.ts'
import type { Env } from './secrets.ts'

export interface GivenValue {
  /** Undefined when nobody said anything. */
  readonly value: unknown
  readonly place: string
}

export function givenIn(section: Section, name: string, env: Env, variable: string): GivenValue {
  const value = section.get(name)
  const inherited = set(env[variable])
  return value === undefined && inherited !== undefined
    ? { value: inherited, place: variable }
    : { value, place: section.at(name) }
}

/** A blank variable is unset. */
export function set(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value.trim()
}
