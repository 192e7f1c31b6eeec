/** Explains where a text stops being JSON. Browsers word this differently, and some give no position. */

interface JsonProblem {
  readonly line: number
  readonly column: number
  readonly says: string
}

export type JsonRead = { readonly value: unknown } | { readonly problem: JsonProblem }

export function readJson(text: string): JsonRead {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    const { at, says } = firstWrong(text)
    const before = text.slice(0, at)
    const line = before.split('\n').length
    return { problem: { line, column: at - before.lastIndexOf('\n'), says } }
  }
}

const SPACE = /[ \t\r\n]*/y
// oxlint-disable-next-line no-control-regex -- JSON strings cannot contain them
const TEXT = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y
const PLAIN = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y

type Next = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end' | 'nothing'

interface Wrong {
  readonly at: number
  readonly says: string
}

/** Scans the text with an explicit stack, so that no nesting is too deep. */
function firstWrong(text: string): Wrong {
  const open: ('{' | '[')[] = []
  let at = 0
  let next: Next = 'value'
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    if (!pattern.test(text)) return false
    at = pattern.lastIndex
    return true
  }
  const afterValue = (): Next => (open.length === 0 ? 'nothing' : 'comma or end')
  for (;;) {
    take(SPACE)
    const char = text[at]
    const inside = open.at(-1)
    const ends = char === (inside === '{' ? '}' : ']')
    if (ends && (next === 'comma or end' || next === 'value or end' || next === 'key or end')) {
      open.pop()
      at += 1
      next = afterValue()
    } else if (next === 'comma or end' && char === ',') {
      at += 1
      next = inside === '{' ? 'key' : 'value'
    } else if (next === 'colon' && char === ':') {
      at += 1
      next = 'value'
    } else if ((next === 'key' || next === 'key or end') && take(TEXT)) next = 'colon'
    else if ((next === 'value' || next === 'value or end') && (char === '{' || char === '[')) {
      open.push(char)
      at += 1
      next = char === '{' ? 'key or end' : 'value or end'
    } else if ((next === 'value' || next === 'value or end') && (take(TEXT) || take(PLAIN)))
      next = afterValue()
    else return { at, says: describe(next, char, inside, ends) }
  }
}

function describe(
  next: Next,
  char: string | undefined,
  inside: '{' | '[' | undefined,
  ends: boolean,
): string {
  const end = inside === '{' ? '}' : ']'
  if (char === undefined) return inside === undefined ? 'Empty; enter null for no value' : `Missing ${end}`
  if (ends && inside !== undefined) {
    if (next === 'colon') return 'Missing colon and value'
    return next === 'value' && inside === '{' ? 'Missing value' : `Remove the comma before ${end}`
  }
  if (char === '"' && next !== 'colon' && next !== 'comma or end' && next !== 'nothing')
    return 'String is not closed, or contains a line break or an invalid \\ escape'
  if (char === "'" || char === '`') return 'Strings must be in double quotes'
  if (next === 'nothing') return 'Unexpected text after the value'
  if (next === 'colon') return 'Missing colon'
  if (next === 'comma or end') return `Missing comma or ${end}`
  if (next === 'key' || next === 'key or end') return 'Missing key in double quotes'
  return 'Invalid value; strings must be in double quotes'
}
