/**
 * Hides values of secret keys in JSON that cannot be parsed, because it is part of a text, escaped or cut
 * off. Also matches objects as Node, Python and Ruby print them, and name-value pairs. Each character is read
 * a bounded number of times.
 */
import { endOfLines, jsonValueAt, type Quoting, withoutPrefix } from './redact-json-value.ts'
import { NAMES, type SecretTest, VALUES, valueOf } from './redact-keys.ts'
import { hideRanges, type Range } from './redact-ranges.ts'

/**
 * A quoted key, which may be escaped, or a plain name before a quoted or bracketed value or a class name,
 * followed by a colon or another assignment: `"password": …`, `d["password"] = …`.
 */
const KEY =
  /(\\{0,63})(["'])([^"'\\\s]{1,64})\1\2\s{0,8}\]?\s{0,8}(?::|=>|=(?!=))\s{0,8}|(?<![\w"'\\-])([\w-]{1,64})(?:\s{0,8}(?::=?|=>)\s{0,8}|\s{1,8}=\s{0,8}|=\s{1,8})(?=\\{0,63}["'`]|[[{]|[A-Z][\w$]{0,63}[( ]|[bruBRU]{1,2}["']|<[A-Z])/g

/** An object that encloses the current key. */
interface OpenObject {
  /** The secret name in an object such as `"name":"password"`. */
  secretName: string | null
  /** The start of a value that came before the name. */
  value: Begun | null
}

interface Begun {
  readonly start: number
  readonly quoting: Quoting
}

export function hideInJson(text: string, isSecret: SecretTest): string {
  if (!/[:=]/.test(text)) return text
  const keys = new RegExp(KEY)
  const ranges: Range[] = []
  const objects: OpenObject[] = []
  let scanned = 0

  /** The object that contains the key at this position. */
  function objectAt(place: number): OpenObject {
    for (; scanned < place; scanned += 1) {
      const character = text[scanned]
      if (character === '{') objects.push({ secretName: null, value: null })
      else if (character === '}') objects.pop()
    }
    const last = objects.at(-1)
    if (last !== undefined) return last
    const first = { secretName: null, value: null }
    objects.push(first)
    return first
  }

  /** Returns the end of the hidden value; null when there is no value here, or it is harmless. */
  function hide(name: string, start: number, quoting: Quoting, limit?: number): number | null {
    const value = jsonValueAt(text, start, quoting, limit)
    if (value === null || !isSecret(name, valueOf(text.slice(start, value.end)))) return null
    // With a limit, further lines of the value are not read: nested values would be read once for each level.
    const end = limit === undefined ? endOfLines(text, value.end, quoting) : value.end
    ranges.push({ start, ...value, end })
    return end
  }

  /**
   * Hides a value that came before its name. A bracketed value is hidden up to the name without reading it,
   * because nested values would be read once for each level.
   */
  function hideBefore(place: number, name: string, { start, quoting }: Begun): void {
    if (!/[[{]/.test(text[withoutPrefix(text, start)] ?? '')) {
      hide(name, start, quoting, place)
      return
    }
    let end = place
    while (end > start && /[\s,]/.test(text[end - 1] ?? '')) end -= 1
    ranges.push({ start, end, mark: `${quoting.escapes}${quoting.quote}` })
  }

  for (let key = keys.exec(text); key !== null; key = keys.exec(text)) {
    const start = keys.lastIndex
    const [
      ,
      escapes = /\\*/y.exec(text.slice(start, start + 64))?.[0] ?? '',
      quote = '"',
      quoted,
      plain = '',
    ] = key
    const name = quoted ?? plain
    const quoting = { escapes, quote }
    // Test the name first: finding the end of every value would read the same brackets again for each key.
    if (isSecret(name, '')) {
      keys.lastIndex = hide(name, start, quoting) ?? start
      continue
    }
    const isName = NAMES.test(name)
    if (!isName && !VALUES.test(name)) continue
    const object = objectAt(key.index)
    if (!isName) {
      if (object.secretName === null) object.value = { start, quoting }
      else keys.lastIndex = hide(object.secretName, start, quoting) ?? start
      continue
    }
    const given = shortTextAt(text, start)
    if (given === null || !isSecret(given, '')) continue
    object.secretName = given
    if (object.value === null) continue
    hideBefore(key.index, given, object.value)
    object.value = null
  }
  return hideRanges(text, ranges)
}

/** A quoted text that may be the name of a secret. */
function shortTextAt(text: string, start: number): string | null {
  const short = /(\\{0,63})(["'])([^"'\\]{1,64})\1\2/y
  short.lastIndex = start
  return short.exec(text)?.[3] ?? null
}
