/** What can stand in the YAML or in a variable: the variable counts where both say something, and a problem is told where it was written. */
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
  return inherited === undefined ? { value, place: section.at(name) } : { value: inherited, place: variable }
}

/** A blank variable is unset. */
export function set(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value.trim()
}
