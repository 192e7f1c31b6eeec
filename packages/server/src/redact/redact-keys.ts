/** Decides which keys name a secret, and which of their values are harmless. */

/** The default patterns. Extend them with your own keys: `redact: [...SECRET_KEYS, /ssn/i]`. */
export const SECRET_KEYS: readonly RegExp[] = [
  /pass(?:word|wd|phrase|code|key)|pswd/i,
  /(?<![a-z])pass[-_. ](?:word|wd|phrase|code|key)/i,
  // Only as a separate or last word: db_pass and dbPass, but not compass.
  /(?:^|[-_. ])(?:pass|pwd?)$/i,
  /[a-z0-9](?:Pass|Pwd?|PWD?)$/,
  /(?:^|[-_. ])(?:db|pg|mysql|redis|smtp|user|root|admin)pass$/i,
  /^pin(?:[-_. ]?code)?$/i,
  /(?:^|[-_. ])(?:t?otp|(?:otp|mfa|2fa)[-_. ]?code)$/i,
  /[a-z0-9](?:T?OTP|Otp)$/,
  /session[-_. ]?(?:id|key)$/i,
  /^auth$/i,
  /auth[-_. ]?header$/i,
  /bearer/i,
  /secret(?!ar)/i,
  // The search texts of bulk actions.
  /^(?:payload(?:Text|At)|indexedPayload)$/,
  /tokens?(?:[-_. ]?(?:value|hash|v\d+))?$/i,
  /jwt/i,
  /(?:^|[-_. ])dsn$/i,
  /[a-z0-9]D(?:sn|SN)$/,
  /conn(?:ection)?[-_. ]?str(?:ing)?s?$/i,
  /(?:api|private)[-_. ]?key/i,
  /(?:access|account|signing|encryption|master|ssh|hmac)[-_. ]?keys?$/i,
  /authori[sz]ation/i,
  /cookie/i,
  /credential|(?:^|[-_. ])creds$/i,
  /[a-z0-9]Creds$/,
]

export const HIDDEN = '(hidden)'

/**
 * Keys that hold the name, and keys that hold the value, in pairs such as `{ name: 'password', value: … }`.
 */
export const NAMES = /^(?:name|key|k|field|header|param|parameter|property|variable|env|label|id|type)$/i
export const VALUES = /^(?:val|value|values|v|content|data|default)$/i

export type SecretTest = (key: string, value: unknown) => boolean

/**
 * A key that matches a custom pattern is always hidden; one that matches a default only if its value is not
 * harmless.
 */
type Match = 'none' | 'default' | 'own'
/** Keys repeat, and matching them is the main cost of redaction, so matches are cached. */
const CACHED_KEYS = 1_000
/** Longer keys are rare, and the cache must stay small. */
const LONGEST_CACHED = 64

export function secretTest(patterns: readonly RegExp[]): SecretTest {
  const tests = patterns.map((pattern) => ({
    pattern: stateless(pattern),
    isDefault: SECRET_KEYS.includes(pattern),
  }))
  const known = new Map<string, Match>()

  function matchOf(key: string): Match {
    const before = known.get(key)
    if (before !== undefined) return before
    const matching = tests.filter(({ pattern }) => pattern.test(key))
    const found = matching.every(({ isDefault }) => isDefault) ? 'default' : 'own'
    const match = matching.length === 0 ? 'none' : found
    if (key.length > LONGEST_CACHED) return match
    if (known.size >= CACHED_KEYS) known.clear()
    // A copy, because a part of a text keeps all of the text in memory.
    known.set(Buffer.from(key).toString(), match)
    return match
  }

  return (key, value) => {
    const match = matchOf(key)
    return match === 'own' || (match === 'default' && !isHarmless(key, value))
  }
}

/** Removes the flags `g` and `y`, which make an expression remember its position and miss the next key. */
function stateless({ source, flags }: RegExp): RegExp {
  return new RegExp(source, flags.replaceAll(/[gy]/g, ''))
}

/** True for values that reveal nothing: `hasPassword: true`, null, or a number of tokens. */
function isHarmless(key: string, value: unknown): boolean {
  if (value === null || value === undefined || typeof value === 'boolean') return true
  return typeof value === 'number' && /tokens$/i.test(key)
}

/** Interprets a value in a text, so that harmless values are recognized there too. */
export function valueOf(text: string): unknown {
  if (/^(?:true|false|null|undefined|none|nil)$/i.test(text)) return null
  return /^\d+$/.test(text) ? Number(text) : text
}
