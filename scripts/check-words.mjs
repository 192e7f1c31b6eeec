// Checks the language of the repository: words that prose avoids, labels and identifiers that were renamed,
// the length of sentences in the docs, and the width of comments. It lists place, word and suggestion. The
// lists are in words.mjs.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readSource } from './read-source.mjs'
import { AVOIDED, MOST_COLUMNS, MOST_WORDS, OLD_LABELS, OLD_PHRASES, RENAMED } from './words.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

/** @typedef {{ line: number, text: string }} Line */

// The lists themselves, the records of earlier runs, and pages whose subject is the words of other systems.
const SKIPPED = [/^scripts\/words\.mjs$/, /^test\/fixtures\//, /^test\/words\.test\.ts$/]
const TESTS = /(?:^|\/)test\//
const SOURCE = /\.(?:ts|tsx|mjs)$/

const oldNames = new RegExp(
  String.raw`(?<![\w$.-])(?:${Object.keys(RENAMED)
    .map((name) => name.replaceAll('.', String.raw`\.`))
    .join('|')})(?![\w$-])`,
)

/** @param {string} words a space matches a line break, too */
const spaced = (words) =>
  words.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll(' ', String.raw`\s+`)

const oldPhrases = new RegExp(OLD_PHRASES.map(([phrase]) => spaced(phrase)).join('|'), 'g')
const oldLabels = new RegExp(
  String.raw`(?<=['"\x60>]\s*)(?:${Object.keys(OLD_LABELS).map(spaced).join('|')})(?=\s*['"\x60<])`,
  'g',
)

/**
 * @param {string} file its path from the root, which says how to read it
 * @param {string} text
 * @returns {string[]} one line per problem, `file:line: what and what instead`
 */
export function checkWords(file, text) {
  if (SKIPPED.some((pattern) => pattern.test(file))) return []
  const at = (/** @type {number} */ line) => `${file}:${line}:`
  if (file.endsWith('.md')) {
    const lines = proseOf(text)
    return [
      ...lines.flatMap(({ line, text: words }) =>
        avoided(file, words).map((problem) => `${at(line)} ${problem}`),
      ),
      ...renamed(text).map(({ line, text: problem }) => `${at(line)} ${problem}`),
      ...oldTexts(text, oldPhrases).map(({ line, text: problem }) => `${at(line)} ${problem}`),
      ...longSentences(lines).map(({ line, text: problem }) => `${at(line)} ${problem}`),
    ]
  }
  if (!SOURCE.test(file)) return []
  const { code, withTexts } = readSource(text)
  // The texts of a test are its data; its comments are prose. Names in backticks and paths of modules
  // are not.
  const prose = withoutCode(text, TESTS.test(file) ? withTexts : code).replaceAll(
    /`[^`\n]*`|[\w./-]*\/[\w.-]+\.tsx?/g,
    ' ',
  )
  return [
    ...prose
      .split('\n')
      .flatMap((words, index) => avoided(file, words).map((problem) => `${at(index + 1)} ${problem}`)),
    ...renamed(code).map(({ line, text: problem }) => `${at(line)} ${problem}`),
    // The texts of a test are its data.
    ...(TESTS.test(file) ? [] : [...oldTexts(text, oldPhrases), ...oldTexts(text, oldLabels)]).map(
      ({ line, text: problem }) => `${at(line)} ${problem}`,
    ),
    ...wideComments(text, code).map((line) => `${at(line)} a comment is wider than ${MOST_COLUMNS} columns`),
  ]
}

/** @param {string} file @param {string} words @returns {string[]} */
function avoided(file, words) {
  return AVOIDED.flatMap(([pattern, suggestion, exempt]) => {
    if (exempt?.test(file)) return []
    const found = pattern.exec(words)?.[0]
    return found === undefined ? [] : [`"${found}" (write: ${suggestion})`]
  })
}

/** @param {string} code @returns {Line[]} */
function renamed(code) {
  return code.split('\n').flatMap((words, index) => {
    const found = oldNames.exec(words)?.[0]
    return found === undefined ? [] : [{ line: index + 1, text: `${found} is now ${RENAMED[found]}` }]
  })
}

/** @param {string} text @param {RegExp} pattern @returns {Line[]} */
function oldTexts(text, pattern) {
  return [...text.matchAll(pattern)].map(({ 0: found, index }) => {
    const words = found.replaceAll(/\s+/g, ' ')
    const suggestion = OLD_LABELS[words] ?? OLD_PHRASES.find(([phrase]) => phrase === words)?.[1]
    return { line: text.slice(0, index).split('\n').length, text: `"${words}" (write: ${suggestion})` }
  })
}

/**
 * Comments and texts alone: code becomes blanks, except braces, which end the values in a template.
 * @param {string} text @param {string} code
 */
function withoutCode(text, code) {
  let prose = ''
  for (let index = 0; index < text.length; index += 1) {
    const char = text[index] ?? ''
    prose += char === '\n' || char === '}' || code[index] === ' ' ? char : ' '
  }
  return prose
}

/** @param {string} text @param {string} code @returns {number[]} */
function wideComments(text, code) {
  const codeLines = code.split('\n')
  return text.split('\n').flatMap((line, index) => {
    const isComment = /^\s*(?:\/\/|\/?\*)/.test(line) && (codeLines[index] ?? '').trim() === ''
    // An address cannot be wrapped.
    return isComment && line.length > MOST_COLUMNS && !line.includes('://') ? [index + 1] : []
  })
}

/** The lines of a page without code, tables' rules and HTML. @param {string} markdown @returns {Line[]} */
function proseOf(markdown) {
  let isCode = false
  return markdown.split('\n').map((line, index) => {
    if (/^\s*(?:```|~~~)/.test(line)) {
      isCode = !isCode
      return { line: index + 1, text: '' }
    }
    const text = isCode ? '' : line.replaceAll(/`[^`]*`/g, 'code').replaceAll(/<[^>]*>|\]\([^)]*\)/g, ' ')
    return { line: index + 1, text }
  })
}

/** @param {readonly Line[]} lines @returns {Line[]} */
function longSentences(lines) {
  /** @type {Line[]} */
  const problems = []
  let start = 0
  let paragraph = ''
  const end = () => {
    for (const sentence of paragraph.split(/(?<=[.?!:;]\**)\s+/)) {
      const count = sentence.split(/\s+/).filter((word) => /\w/.test(word)).length
      if (count > MOST_WORDS)
        problems.push({
          line: start,
          text: `a sentence of ${count} words (at most ${MOST_WORDS}): "${sentence.trim().slice(0, 60)}…"`,
        })
    }
    paragraph = ''
  }
  for (const { line, text } of [...lines, { line: lines.length, text: '' }]) {
    // A table is not prose; a list item, a heading and a blank line each begin a paragraph.
    const isTable = /^\s*\|/.test(text)
    if (isTable || /^\s*(?:$|#|[-*>] |\d+\. )/.test(text)) end()
    if (isTable || text.trim() === '') continue
    if (paragraph === '') start = line
    paragraph += ` ${text.replace(/^\s*(?:#+|[-*>]|\d+\.)\s+/, '')}`
  }
  return problems
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
  const problems = files
    .split('\n')
    .filter((file) => file.endsWith('.md') || SOURCE.test(file))
    .flatMap((file) => {
      try {
        return checkWords(file, readFileSync(`${root}${file}`, 'utf8'))
      } catch (error) {
        // Deleted, and not committed yet.
        if (/** @type {{ code?: string }} */ (error).code === 'ENOENT') return []
        throw error
      }
    })
  for (const problem of problems) console.log(problem)
  if (problems.length > 0) console.log(`words: ${problems.length} problems`)
  process.exitCode = problems.length === 0 ? 0 : 1
}
