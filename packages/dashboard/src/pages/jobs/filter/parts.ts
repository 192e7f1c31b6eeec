/**
 * Tokenizes filter text: `key:value`, `payload.path:value`, a word, and any of them with quotes. Never
 * throws.
 */
export interface Part {
  readonly from: number
  readonly to: number
  /** The text as typed. */
  readonly raw: string
  /** Null for a word. */
  readonly key: string | null
  /** Set for the key `payload`. */
  readonly path: string
  readonly value: string
  readonly isQuoted: boolean
  /** The quote is not closed. */
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
  // An unclosed quote extends to the end of the text.
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

/** Inside quotes, a colon needs no backslash to belong to the path. */
const escaped = (path: string): string =>
  path.replaceAll(/\\[.:\\]|:/g, (found) => (found === ':' ? String.raw`\:` : found))

/**
 * Splits `user.id:42` like the API does: at the first colon without a backslash before it. Null when there is
 * none.
 */
export function splitPath(text: string): { readonly path: string; readonly value: string } | null {
  const [whole, path = ''] = /^((?:[^:\\]|\\[.:\\]|\\(?![.:\\]))+):/s.exec(text) ?? []
  return whole === undefined ? null : { path, value: text.slice(whole.length) }
}

const quote = (text: string): string => `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`

/** Quoted where it could not be parsed back otherwise. */
export const printValue = (value: string): string =>
  value === '' || value.startsWith('"') || /\s/.test(value) ? quote(value) : value

/** A word is also quoted when it looks like a key. */
export const printWord = (word: string): string => (word.includes(':') ? quote(word) : printValue(word))

export const printPath = (path: string): string => (/[\s"]/.test(path) ? quote(path) : path)
