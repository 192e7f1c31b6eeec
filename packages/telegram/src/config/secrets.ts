/**
 * Reads tokens and secrets from the environment, or from files that it names. They never come from the YAML.
 */
import { readFileSync } from 'node:fs'
import type { Problems } from './problems.ts'

export type Env = Readonly<Record<string, string | undefined>>

/** Returns `BOT_MY_BOT_TOKEN` for `my-bot`. */
export function botVariable(slug: string, what: string): string {
  return `BOT_${slug.toUpperCase().replaceAll('-', '_')}_${what}`
}

/** The value of a variable, or of the file that `<name>_FILE` names. A blank value counts as unset. */
export function secretOf(env: Env, name: string, found: Problems): string | undefined {
  const value = env[name]?.trim()
  const file = env[`${name}_FILE`]?.trim()
  if (value !== undefined && value !== '') {
    if (file !== undefined && file !== '')
      found.error(name, `must not be set together with ${name}_FILE`, 'Unset one of the two')
    return value
  }
  if (file === undefined || file === '') return undefined
  try {
    const text = readFileSync(file, 'utf8').trim()
    if (text !== '') return text
    found.error(`${name}_FILE`, `names an empty file (got ${file})`, 'Write the secret into it')
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    found.error(
      `${name}_FILE`,
      `names ${file}, which cannot be read (${why})`,
      'Use a file that this user can read',
    )
  }
  return undefined
}
