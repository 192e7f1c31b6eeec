// Substitutes variables in a Compose file like `docker compose`: ${X}, ${X:-default} and ${X:?message}.
const VARIABLE = /\$\{(\w+)(?::([-?])([^}]*))?\}/g

/** Throws with the message of the file when a required variable is missing. */
export function interpolate(text: string, env: Readonly<Record<string, string>>): string {
  return text.replaceAll(VARIABLE, (_all, name: string, how: string = '', rest: string = '') => {
    const value = env[name] ?? ''
    if (value === '' && how === '?') throw new Error(`${name}: ${rest}`)
    return value === '' && how === '-' ? rest : value
  })
}

/** The variables that a file requires. */
export function requiredVariables(text: string): string[] {
  return [...text.matchAll(VARIABLE)].flatMap(([, name = '', how]) => (how === '?' ? [name] : [])).toSorted()
}
