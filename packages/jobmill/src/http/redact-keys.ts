/** Which keys name a secret, and which of their values say nothing. */

/** Extend it for your own keys: `redact: [...SECRET_KEYS, /ssn/i]`. */
export const SECRET_KEYS: readonly RegExp[] = [
  /pass(?:word|wd|phrase|code|key)/i,
  // As a word of its own, or as the last one: db_pass and dbPass, but not compass.
  /(?:^|[-_. ])(?:pass|pwd?)$/i,
  /[a-z0-9](?:Pass|Pwd?)$/,
  /^pin$/i,
  /(?:^|[-_. ])(?:t?otp|(?:otp|mfa|2fa)[-_. ]?code)$/i,
  /[a-z0-9](?:T?OTP|Otp)$/,
  /session[-_. ]?(?:id|key)$/i,
  /^auth$/i,
  /bearer/i,
  /secret(?!ar)/i,
  // Of an act on many jobs: the text that an operator searched for.
  /^payload(?:Text|At)$/,
  /tokens?(?:[-_. ]?(?:value|hash|v\d+))?$/i,
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

export const HIDDEN = '(hidden)'

/** The keys of a pair that name something, and those that hold its value: `{ name: 'password', value: … }`. */
export const NAMES = /^(?:name|key|k|field|header|param|parameter|property|variable|env|label|id|type)$/i
export const VALUES = /^(?:val|value|values|v|content|data|default)$/i

export type SecretTest = (key: string, value: unknown) => boolean

/** A key that matches a pattern of the user is always hidden; one that matches a default only where its value says something. */
type Match = 'none' | 'default' | 'own'
/** Keys repeat in lists and in texts, and matching them is what redaction costs. */
const REMEMBERED = 1_000

export function secretTest(patterns: readonly RegExp[]): SecretTest {
  const tests = patterns.map((pattern) => ({
    pattern: stateless(pattern),
    isDefault: SECRET_KEYS.includes(pattern),
  }))
  const known = new Map<string, Match>()

  function matchOf(key: string): Match {
    const matching = tests.filter(({ pattern }) => pattern.test(key))
    if (matching.length === 0) return 'none'
    return matching.every(({ isDefault }) => isDefault) ? 'default' : 'own'
  }

  function rememberedMatch(key: string): Match {
    const before = known.get(key)
    if (before !== undefined) return before
    const match = matchOf(key)
    if (known.size >= REMEMBERED) known.clear()
    known.set(key, match)
    return match
  }

  return (key, value) => {
    const match = rememberedMatch(key)
    return match === 'own' || (match === 'default' && !isHarmless(key, value))
  }
}

/** With `g` or `y` an expression remembers where it stopped, and would miss the next key. */
function stateless({ source, flags }: RegExp): RegExp {
  return new RegExp(source, flags.replaceAll(/[gy]/g, ''))
}

/** Whether there is a secret (`hasPassword: true`), that there is none, or how many tokens a text has. */
function isHarmless(key: string, value: unknown): boolean {
  if (value === null || value === undefined || typeof value === 'boolean') return true
  return typeof value === 'number' && /tokens$/i.test(key)
}

/** A value as it is written in a text. What says that there is no secret does so in text too. */
export function valueOf(text: string): unknown {
  if (/^(?:true|false|null|undefined)$/i.test(text)) return null
  return /^\d+$/.test(text) ? Number(text) : text
}
