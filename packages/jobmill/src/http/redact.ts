/** Hides values by the names of their keys: who may look at jobs need not see passwords. */

export const SECRET_KEYS: readonly RegExp[] = [
  /pass(?:word|wd|phrase)?s?$/i,
  /^pwd$/i,
  /^pin$/i,
  /^auth$/i,
  /bearer/i,
  /secret/i,
  // Of an act on many jobs: what somebody looked for.
  /^payload(?:Text|At)$/,
  /tokens?$/i,
  /api[-_]?key/i,
  /authori[sz]ation/i,
  /cookie/i,
  /credential/i,
  /private[-_]?key/i,
]

const HIDDEN = '(hidden)'

export function redactor(patterns: readonly RegExp[]): <T>(value: T) => T {
  const isSecret = (key: string): boolean => patterns.some((pattern) => pattern.test(key))
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk)
    if (typeof value !== 'object' || value === null) return value
    if (isDifference(value)) return { ...value, code: HIDDEN, stored: HIDDEN }
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, isSecret(key) ? HIDDEN : walk(inner)]),
    )
  }
  return <T>(value: T): T => walk(value) as T
}

/** Where code and the store differ in the payload of a schedule, both stand there as text. */
function isDifference(value: object): boolean {
  return 'field' in value && value.field === 'payload' && 'code' in value && 'stored' in value
}
