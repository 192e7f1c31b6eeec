/** What stands between the spaces of a filter: `key:value`, `payload.path:value`, a word, and any of them with quotes. Never throws. */
export interface Part {
  readonly from: number
  readonly to: number
  /** As it was written. */
  readonly raw: string
  /** Null for a word. */
  readonly key: string | null
  /** For the key `payload`. */
  readonly path: string
  readonly value: string
  readonly isQuoted: boolean
  /** A quote was begun and not ended. */
  readonly isOpen: boolean
}

const KEY = /[a-z][a-z-]*:/iy
const PATH = /payload\.(?:(?<path>(?!")(?:[^\s:\\]|\\[.:\\]|\\(?![.:\\]))+)|"(?<quoted>(?:[^"\\]|\\.)*)"):/isy
const QUOTED = /"(?:[^"\\]|\\.)*"(?!\S)/sy
const RUN = /(?:"(?:[^"\\]|\\.)*")?\S*/sy

export function partsOf(text: string): readonly Part[] {
  const parts: Part[] = []
  let at = 0
  for (;;) {
    while (at < text.length && isSpace(text[at])) at += 1
    if (at >= text.length) return parts
    const part = partAt(text, at)
    parts.push(part)
    at = part.to
  }
}

const isSpace = (char: string | undefined): boolean => char !== undefined && /\s/.test(char)

function partAt(text: string, from: number): Part {
  const path = match(PATH, text, from)
  const key = path ?? match(KEY, text, from)
  const begin = from + (key?.[0].length ?? 0)
  const quoted = match(QUOTED, text, begin)?.[0]
  const run = quoted ?? match(RUN, text, begin)?.[0] ?? ''
  // A quote that nothing ends takes all that follows.
  const isOpen = text[begin] === '"' && quoted === undefined && !/^"(?:[^"\\]|\\.)*"/s.test(run)
  const to = isOpen ? text.length : begin + run.length
  return {
    from,
    to,
    raw: text.slice(from, to),
    key: key === null ? null : path === null ? key[0].slice(0, -1).toLowerCase() : 'payload',
    path: path?.groups?.['path'] ?? escaped(unquoted(path?.groups?.['quoted'] ?? '')),
    value: quoted === undefined ? text.slice(begin, to) : unquoted(quoted.slice(1, -1)),
    isQuoted: quoted !== undefined,
    isOpen,
  }
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

const unquoted = (text: string): string => text.replaceAll(/\\(["\\])/g, '$1')

/** In quotes a colon needs no backslash to be one of the path. */
const escaped = (path: string): string =>
  path.replaceAll(/\\[.:\\]|:/g, (found) => (found === ':' ? String.raw`\:` : found))

/** `user.id:42` in its two halves, as the API does it: at the first colon that has no backslash before it. Null without one. */
export function splitPath(text: string): { readonly path: string; readonly value: string } | null {
  const [whole, path = ''] = /^((?:[^:\\]|\\[.:\\]|\\(?![.:\\]))+):/s.exec(text) ?? []
  return whole === undefined ? null : { path, value: text.slice(whole.length) }
}

const quote = (text: string): string => `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`

/** With quotes where it could not be read back without them. */
export const printValue = (value: string): string =>
  value === '' || value.startsWith('"') || /\s/.test(value) ? quote(value) : value

/** A word must not look like a key either. */
export const printWord = (word: string): string => (word.includes(':') ? quote(word) : printValue(word))

export const printPath = (path: string): string => (/[\s"]/.test(path) ? quote(path) : path)
