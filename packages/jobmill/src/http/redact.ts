/** Hides secrets from viewers: values by the names of their keys, and credentials inside of texts. */

/** Extend it for your own keys: `redact: [...SECRET_KEYS, /ssn/i]`. */
export const SECRET_KEYS: readonly RegExp[] = [
  /pass(?:word|wd|phrase|code|key)/i,
  // As a word of its own, or as the last one: db_pass and dbPass, but not compass.
  /(?:^|[-_. ])(?:pass|pwd?)$/i,
  /[a-z0-9](?:Pass|Pwd?)$/,
  /^pin$/i,
  /^auth$/i,
  /bearer/i,
  /secret(?!ar)/i,
  // Of an act on many jobs: the text that an operator searched for.
  /^payload(?:Text|At)$/,
  /tokens?$/i,
  /jwt/i,
  /(?:^|[-_. ])dsn$/i,
  /[a-z0-9]D(?:sn|SN)$/,
  /conn(?:ection)?[-_. ]?str(?:ing)?s?$/i,
  /(?:api|private)[-_. ]?key/i,
  /(?:access|signing|encryption|master|ssh)[-_. ]?keys?$/i,
  /authori[sz]ation/i,
  /cookie/i,
  /credential/i,
]

/** Parameters of URLs that open something, besides those named like a secret key. */
const SECRET_PARAMETERS = /^(?:sig|x-[a-z]+-signature)$/i
const HIDDEN = '(hidden)'
/** JSON inside of JSON texts is looked into so many times. */
const DEEPEST_JSON = 3
const LONGEST_JSON_CHARS = 1_048_576

export function redactor(patterns: readonly RegExp[]): <T>(value: T) => T {
  if (patterns.length === 0) return (value) => value
  const isSecret = secretTest(patterns)

  function walk(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return hideInText(value, depth)
    if (typeof value !== 'object' || value === null) return value
    if (isList(value)) return hideInList(value, depth)
    if (isDifference(value)) return { ...value, code: HIDDEN, stored: HIDDEN }
    if (isOverride(value)) return { ...value, ...('code' in value && { code: HIDDEN }), value: HIDDEN }
    const named = namedValue(value)
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => {
        const hides =
          isSecret(key, inner) || (key === 'value' && named !== undefined && isSecret(named, inner))
        return [key, hides ? HIDDEN : walk(inner, depth)]
      }),
    )
  }

  function hideInList(list: readonly unknown[], depth: number): unknown[] {
    if (isPairs(list)) return list.map((pair) => hideInPair(pair, depth))
    return list.map((one) => walk(one, depth))
  }

  function hideInPair([key, value]: readonly [string, unknown], depth: number): unknown {
    return [key, isSecret(key, value) ? HIDDEN : walk(value, depth)]
  }

  function hideInText(text: string, depth: number): string {
    const json = depth < DEEPEST_JSON ? jsonIn(text) : undefined
    if (json !== undefined) {
      const before = JSON.stringify(json)
      const after = JSON.stringify(walk(json, depth + 1))
      // As it was written, unless something is hidden.
      return after === before ? text : after
    }
    return hideParameters(text.replaceAll(/(:\/\/[^\s/?#@:"'<>]*:)[^\s/?#"'<>]+@/g, `$1${HIDDEN}@`), isSecret)
  }

  return <T>(value: T): T => walk(value, 0) as T
}

type SecretTest = (key: string, value: unknown) => boolean

/** With `g` or `y` an expression remembers where it stopped, and would miss the next key: both are left out. */
function secretTest(patterns: readonly RegExp[]): SecretTest {
  const tests = patterns.map((pattern) => ({
    pattern: new RegExp(pattern.source, pattern.flags.replaceAll(/[gy]/g, '')),
    isDefault: SECRET_KEYS.includes(pattern),
  }))
  return (key, value) =>
    tests.some(({ pattern, isDefault }) => pattern.test(key) && !(isDefault && isHarmless(key, value)))
}

/** Whether there is a secret (`hasPassword: true`), that there is none, or how many tokens a text has. */
function isHarmless(key: string, value: unknown): boolean {
  if (value === null || value === undefined || typeof value === 'boolean') return true
  return typeof value === 'number' && /tokens$/i.test(key)
}

/** The parameters of a URL or a form. */
function hideParameters(text: string, isSecret: SecretTest): string {
  if (!text.includes('=')) return text
  return text.replaceAll(
    /([?&])([^=&?#\s"'<>]{1,64})=([^&#\s"'<>]+)/g,
    (whole, before: string, name: string, value: string) =>
      SECRET_PARAMETERS.test(name) || isSecret(name, value) ? `${before}${name}=${HIDDEN}` : whole,
  )
}

/** An object or a list that was written as JSON; undefined for any other text. */
function jsonIn(text: string): unknown {
  if (text.length > LONGEST_JSON_CHARS || !/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isList(value: object): value is readonly unknown[] {
  return Array.isArray(value)
}

/** `[['authorization', 'Bearer …'], …]`, as headers are listed. A list of two texts alone may be anything. */
function isPairs(value: readonly unknown[]): value is readonly (readonly [string, unknown])[] {
  return (
    value.length > 0 &&
    value.every((one) => Array.isArray(one) && one.length === 2 && typeof one[0] === 'string')
  )
}

/** The name in `{ name: 'password', value: … }` or `{ key: …, value: … }`. */
function namedValue(value: object): string | undefined {
  if (!('value' in value)) return undefined
  const name: unknown = 'key' in value ? value.key : 'name' in value ? value.name : undefined
  return typeof name === 'string' ? name : undefined
}

/** Where code and the store differ in the payload of a schedule, both stand there as text. */
function isDifference(value: object): boolean {
  return 'field' in value && value.field === 'payload' && 'code' in value && 'stored' in value
}

/** The payload of a schedule that an operator overrode, and that of code. */
function isOverride(value: object): boolean {
  return 'option' in value && value.option === 'payload' && 'value' in value
}
