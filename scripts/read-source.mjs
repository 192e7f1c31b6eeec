// Reads a TypeScript file for the import check without a parser: returns the code with comments and strings
// blanked out (lines and columns kept), and the modules that it imports.

/**
 * @typedef {{ module: string, line: number, typeOnly: boolean }} Import
 * @typedef {{ code: string, withTexts: string, imports: Import[] }} Source
 */

// A slash after one of these characters or words starts a regular expression; elsewhere it divides.
const beforePattern =
  /(?:^|[(,=:[!&|?{};+\-*%~<>]|\b(?:return|typeof|case|in|of|do|else|void|await|yield|throw))$/

/** @param {string} text */
const blank = (text) => text.replaceAll(/[^\n]/g, ' ')

/**
 * Blanks comments, and texts too unless asked to keep them. The code inside `${}` of a template stays.
 * @param {string} text @param {{ keepTexts: boolean }} options
 */
function blankOut(text, { keepTexts }) {
  let out = ''
  /** Brace depth at each open `${`, innermost last. @type {number[]} */
  const templates = []
  let depth = 0
  let at = 0

  /** @param {number} length @param {boolean} keep */
  const take = (length, keep) => {
    const piece = text.slice(at, at + length)
    out += keep ? piece : blank(piece)
    at += length
  }
  const takeTemplate = () => {
    const end = /`|\$\{/g
    end.lastIndex = at
    for (let match = end.exec(text); match; match = end.exec(text)) {
      let slashes = 0
      while (text[match.index - 1 - slashes] === '\\') slashes += 1
      if (slashes % 2 === 1) continue
      take(match.index - at, keepTexts)
      if (match[0] === '${') templates.push(depth)
      take(match[0].length, true)
      return
    }
    take(text.length - at, keepTexts)
  }

  while (at < text.length) {
    const rest = text.slice(at, at + 2)
    const char = rest[0]
    if (rest === '//') take(lengthOf(/\/\/[^\n]*/y, text, at), false)
    else if (rest === '/*') take(lengthOf(/\/\*[\s\S]*?(?:\*\/|$)/y, text, at), false)
    else if (char === "'" || char === '"') {
      const length = lengthOf(/(['"])(?:\\[\s\S]|(?!\1)[^\\\n])*\1?/y, text, at)
      take(1, true)
      take(Math.max(length - 2, 0), keepTexts)
      if (length > 1) take(1, true)
    } else if (char === '`') {
      take(1, true)
      takeTemplate()
    } else if (char === '}' && templates.length > 0 && templates.at(-1) === depth) {
      templates.pop()
      take(1, true)
      takeTemplate()
    } else if (char === '/' && beforePattern.test(out.trimEnd().slice(-12))) {
      take(lengthOf(/\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n])*\/?[a-z]*/y, text, at), false)
    } else {
      if (char === '{') depth += 1
      if (char === '}') depth -= 1
      take(1, true)
    }
  }
  return out
}

/** @param {RegExp} sticky @param {string} text @param {number} at */
function lengthOf(sticky, text, at) {
  sticky.lastIndex = at
  return sticky.exec(text)?.[0].length ?? 1
}

// `import x from 'm'`, `export { x } from 'm'`, `import 'm'`, `import('m')`, and the type `import('m').X`.
const importForms = [
  /^[ \t]*(?:import|export)\s+(?<type>type\s)?(?:[\w$*{},\s]+?)\s*from\s*(?<quote>['"])(?<module>[^'"\n]+)\k<quote>/gm,
  /^[ \t]*import\s*(?<quote>['"])(?<module>[^'"\n]+)\k<quote>/gm,
  /\bimport\s*\(\s*(?<quote>['"])(?<module>[^'"\n]+)\k<quote>/g,
]

/** @param {string} text @returns {Source} */
export function readSource(text) {
  const code = blankOut(text, { keepTexts: false })
  const withTexts = blankOut(text, { keepTexts: true })
  const imports = importForms.flatMap((form) =>
    [...withTexts.matchAll(form)]
      // Where the blanked code has no such word, the match was inside a string.
      .filter((match) => /\b(?:import|export)\b/.test(code.slice(match.index, match.index + match[0].length)))
      .map((match) => ({
        module: match.groups?.['module'] ?? '',
        line: lineAt(withTexts, match.index + match[0].search(/\S/)),
        typeOnly: match.groups?.['type'] !== undefined,
      })),
  )
  return { code, withTexts, imports: imports.toSorted((a, b) => a.line - b.line) }
}

/** @param {string} text @param {number} index */
export function lineAt(text, index) {
  return text.slice(0, index).split('\n').length
}
