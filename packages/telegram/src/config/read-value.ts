/**
 * Reads a setting from the YAML or from a variable. The variable wins, and problems name the place that was
 * used.
 */
import type { Section } from './section.ts'
import type { Env } from './secrets.ts'

export interface SettingValue {
  /** Undefined if it is not set in either place. */
  readonly value: unknown
  readonly place: string
}

export function readValue(section: Section, name: string, env: Env, variable: string): SettingValue {
  const value = section.get(name)
  const inherited = nonBlank(env[variable])
  return inherited === undefined ? { value, place: section.at(name) } : { value: inherited, place: variable }
}

/** Treats a blank variable as unset. */
export function nonBlank(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value.trim()
}
