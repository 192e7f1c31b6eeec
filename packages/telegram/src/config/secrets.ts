/**
 * Reads tokens and secrets from the environment, or from files that it names. They never come from the YAML.
 */
import { readFileSync } from 'node:fs'
import type { Problems } from './problems.ts'

export type Env = Readonly<Record<string, string | undefined>>

/** Treats a blank variable as unset. */
export function nonBlank(value: string | undefined): string | undefined {
  return value?.trim() || undefined
}

/** Returns `BOT_MY_BOT_TOKEN` for `my-bot`. */
export function botVariable(slug: string, what: string): string {
  return `BOT_${slug.toUpperCase().replaceAll('-', '_')}_${what}`
}

/** The value of a variable, or of the file that `<name>_FILE` names. A blank value counts as unset. */
export function secretOf(env: Env, name: string, found: Problems): string | undefined {
  const value = nonBlank(env[name])
  const file = nonBlank(env[`${name}_FILE`])
  if (value !== undefined) {
    if (file !== undefined)
      found.at(name).error(`must not be set together with ${name}_FILE`, 'Unset one of the two')
    return value
  }
  if (file === undefined) return undefined
  const at = found.at(`${name}_FILE`)
  try {
    const text = readFileSync(file, 'utf8').trim()
    if (text !== '') return text
    at.error(`names an empty file (got ${file})`, 'Write the secret into it')
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    at.error(`names ${file}, which cannot be read (${why})`, 'Use a file that this user can read')
  }
  return undefined
}
