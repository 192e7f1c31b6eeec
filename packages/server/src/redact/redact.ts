/** Hides secrets from viewers: values of secret keys, and credentials inside texts. */

import { BOUNDS } from 'jobmill/store'
import { HIDDEN, NAMES, secretTest, VALUES } from './redact-keys.ts'
import { hideCredentials } from './redact-text.ts'

/** How many levels of JSON inside JSON texts are parsed. */
const DEEPEST_JSON = 3
/**
 * How many levels of objects and lists are visited, because the walk is recursive. Payloads have at most
 * BOUNDS.jsonDepth, and the response around them a few more.
 */
const DEEPEST = BOUNDS.jsonDepth + 50
const TOO_DEEP = '(too deep)'
const LONGEST_JSON_CHARS = 1_048_576

export function redactor(patterns: readonly RegExp[]): <T>(value: T) => T {
  if (patterns.length === 0) return (value) => value
  const isSecret = secretTest(patterns)

  /** `depth` counts levels of JSON inside strings; `level` counts levels of objects and lists. */
  function walk(value: unknown, depth: number, level: number): unknown {
    if (typeof value === 'string') return hideInText(value, depth)
    if (typeof value !== 'object' || value === null) return value
    if (level >= DEEPEST) return TOO_DEEP
    if (Array.isArray(value)) return hideInList(value, depth, level)
    if (isDrift(value)) return { ...value, code: HIDDEN, stored: HIDDEN }
    if (isOverride(value)) return { ...value, ...('code' in value && { code: HIDDEN }), value: HIDDEN }
    const names = namesIn(value)
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => {
        const hides =
          isSecret(key, inner) || (VALUES.test(key) && names.some((name) => isSecret(name, inner)))
        if (hides) return [key, HIDDEN]
        const given: unknown = key === 'rawHeaders' ? hideInRawHeaders(inner) : inner
        return [key, walk(given, depth, level + 1)]
      }),
    )
  }

  /** The headers of a request in Node: names and values in turn. */
  function hideInRawHeaders(headers: unknown): unknown {
    if (!Array.isArray(headers)) return headers
    return headers.map((one: unknown, at) => {
      const name: unknown = at % 2 === 1 ? headers[at - 1] : null
      return typeof name === 'string' && isSecret(name, one) ? HIDDEN : one
    })
  }

  function hideInList(list: readonly unknown[], depth: number, level: number): unknown[] {
    return list.map((one, at) => {
      if (isPair(one)) {
        const [key, value] = one
        return [key, isSecret(key, value) ? HIDDEN : walk(value, depth, level + 2)]
      }
      return followsSecretOption(list[at - 1], one) ? HIDDEN : walk(one, depth, level + 1)
    })
  }

  /** True for a command argument after a secret option: `['--password', 'x']`. */
  function followsSecretOption(name: unknown, value: unknown): boolean {
    return (
      typeof name === 'string' &&
      /^--?[a-z]/i.test(name) &&
      !name.includes('=') &&
      typeof value === 'string' &&
      isSecret(name, value)
    )
  }

  function hideInText(text: string, depth: number): string {
    const json = depth < DEEPEST_JSON ? jsonIn(text) : undefined
    if (json === undefined) return hideCredentials(text, isSecret)
    const after = JSON.stringify(walk(json, depth + 1, 0))
    // Keeps the original formatting unless something is hidden.
    return after === JSON.stringify(json) ? text : after
  }

  return <T>(value: T): T => walk(value, 0, 0) as T
}

/**
 * Parses an object or a list that was written as JSON. Returns undefined for any other text, and for JSON
 * that is nested too deeply to walk; `hideCredentials` searches those.
 */
function jsonIn(text: string): unknown {
  if (text.length > LONGEST_JSON_CHARS || !/^\s*[[{]/.test(text) || isDeep(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Counts the brackets outside of strings. */
function isDeep(text: string): boolean {
  let level = 0
  let isQuoted = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (character === '"') isQuoted = !isQuoted
    else if (isQuoted) at += character === '\\' ? 1 : 0
    else if (character === '[' || character === '{') level += 1
    else if (character === ']' || character === '}') level -= 1
    if (level > BOUNDS.jsonDepth) return true
  }
  return false
}

/**
 * A pair in a list such as `[['authorization', 'Bearer …'], …]`. A single list of two strings may be
 * anything, so only pairs inside lists count.
 */
function isPair(value: unknown): value is readonly [string, unknown] {
  return Array.isArray(value) && value.length === 2 && typeof value[0] === 'string'
}

/** The names in objects such as `{ name: 'password', value: … }`. */
function namesIn(value: object): readonly string[] {
  const entries = Object.entries(value)
  if (!entries.some(([key]) => VALUES.test(key))) return []
  return entries.flatMap(([key, name]: [string, unknown]) =>
    typeof name === 'string' && NAMES.test(key) ? [name] : [],
  )
}

/** Configuration drift in the payload of a schedule holds both payloads as text. */
function isDrift(value: object): boolean {
  return 'field' in value && value.field === 'payload' && 'code' in value && 'stored' in value
}

/** An override of a schedule's payload holds both payloads. */
function isOverride(value: object): boolean {
  return 'option' in value && value.option === 'payload' && 'value' in value
}
