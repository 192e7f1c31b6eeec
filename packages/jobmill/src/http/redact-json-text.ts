/**
 * Hides values of secret keys in JSON that is only a part of a text, was escaped, or was cut off, so that it cannot be parsed. Objects as Node, Python and Ruby
 * print them (`{ password: 'x' }`) are found too, and pairs of a name and a value. Each character is read a bounded number of times.
 */
import { jsonValueAt, type Quoting } from './redact-json-value.ts'
import { NAMES, type SecretTest, VALUES, valueOf } from './redact-keys.ts'
import { hideRanges, type Range } from './redact-ranges.ts'

/** A key in quotes, which may be escaped, or a plain name before a value in quotes or brackets; with the colon, or what else assigns, behind it. */
const KEY =
  /(\\{0,63})(["'])([^"'\\\s]{1,64})\1\2\s{0,8}(?::|=>)\s{0,8}|(?<![\w"'\\-])([\w-]{1,64})(?:\s{0,8}(?::=?|=>)\s{0,8}|\s{1,8}=\s{0,8}|=\s{1,8})(?=\\{0,63}["']|[[{])/g

/** An object that is open where a key stands. */
interface OpenObject {
  /** It has a name that is secret: `"name":"password"`. */
  secretName: string | null
  /** Where its value begins that came before the name. */
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

  /** The object that a key at this place is in. */
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

  /** The end of what is hidden; null when the value says nothing. */
  function hide(name: string, start: number, quoting: Quoting, limit?: number): number | null {
    const value = jsonValueAt(text, start, quoting, limit)
    if (value === null || !isSecret(name, valueOf(text.slice(start, value.end)))) return null
    ranges.push({ start, ...value })
    return value.end
  }

  /** A value that comes before the name. What is in brackets ends there, and is not read: else it would be for each level. */
  function hideBefore(place: number, name: string, { start, quoting }: Begun): void {
    if (!/[[{]/.test(text[start] ?? '')) {
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
    // By the name first: the end of a value is looked for only where it will be hidden, or else the same brackets would be read again for every key.
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

/** A text in quotes that may be the name of a secret. */
function shortTextAt(text: string, start: number): string | null {
  const short = /(\\{0,63})(["'])([^"'\\]{1,64})\1\2/y
  short.lastIndex = start
  return short.exec(text)?.[3] ?? null
}
