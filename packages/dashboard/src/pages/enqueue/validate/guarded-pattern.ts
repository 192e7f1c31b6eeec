/**
 * Runs patterns from job schemas safely. Some patterns could block the browser for minutes, so the number of
 * steps is estimated from loops, choices and text length. Expensive patterns are skipped.
 */

const MOST_STEPS = 5_000_000
const MOST_PATTERN = 2_000

/** Undefined when the result is unknown. */
export function fits(pattern: string, text: string): boolean | undefined {
  if (pattern.length > MOST_PATTERN || stepsOf(pattern, text.length) > MOST_STEPS) return undefined
  try {
    return new RegExp(pattern, 'u').test(text)
  } catch {
    return undefined
  }
}

/** Every loop may start at every character, and every choice doubles the paths to try. */
export function stepsOf(pattern: string, length: number): number {
  const counted = countOf(pattern)
  return counted === null ? Infinity : Math.max(1, length) ** (counted.loops + 1) * 2 ** counted.choices
}

interface Counted {
  readonly loops: number
  readonly choices: number
}

const TOKEN =
  /\\(?:[pPuk]\{[^}]*\}|.)|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:[:=!]|<[=!]|<[^>]*>))?|\)|\||[*+]\??|\?\??|\{\d*(?:,\d*)?\}\??|[^]/gsu

/** Null for a loop or choice inside a loop: the steps then double with every character. */
function countOf(pattern: string): Counted | null {
  const open: Counted[] = []
  let now = { loops: 0, choices: 0 }
  /** The last piece: a group with its content, or a simple one. */
  let last: Counted = { loops: 0, choices: 0 }
  for (const [token] of pattern.matchAll(TOKEN)) {
    if (token.startsWith('(')) {
      open.push(now)
      now = { loops: 0, choices: 0 }
    } else if (token === ')') {
      last = now
      const around = open.pop() ?? { loops: 0, choices: 0 }
      now = { loops: around.loops + last.loops, choices: around.choices + last.choices }
    } else if (token === '|') now.choices += 1
    else if (/^(?:[*+]|\{)/.test(token)) {
      const isExact = /^\{\d+\}/.test(token)
      if (last.loops > 0 || last.choices > 0) return null
      if (!isExact) now.loops += 1
      last = { loops: 0, choices: 0 }
    } else if (token.startsWith('?')) now.choices += 1
    else last = { loops: 0, choices: 0 }
  }
  return now
}
