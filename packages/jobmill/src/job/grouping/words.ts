/**
 * The words of a shape that say what happened: the first ones of each clause, codes, and names of a schema.
 * Later words are details, and their number may depend on a value.
 */
import { isSchemaWord } from './quotes.ts'
import { PLACEHOLDER } from './shape.ts'
import { followsNoun, isFieldName, STOP_WORDS, UNIT } from './vocabulary.ts'
import { CJK, CONSTANT_CODE, IDENTIFIER, isConstant, isRandomWord, singular } from './word-forms.ts'

const FIRST_CLAUSE = 3
const NEXT_CLAUSE = 2
const MOST_WORDS = 7
/** A clause with fewer words says too little, so the next one counts like a first one. */
const LITTLE = 2
/** After this many words, the end of a sentence, a comma or a value ends what is read. */
const ENOUGH = 3

const TOKEN = new RegExp(
  [
    `(?<placeholder>${PLACEHOLDER})`,
    '(?<quoted>["\'`«“„「『][^"\'`»”“」』]*["\'`»”“」』])',
    '(?<number>\\d+)',
    "(?<word>[\\p{L}_$](?:[\\p{L}\\p{M}_$\\d'’-]|\\.(?=[\\p{L}\\d_$]))*)",
    '(?<end>[.;!?](?=\\s|$))',
    '(?<clause>:(?=\\s|$)|\\s[-–—]\\s)',
    ',',
  ].join('|'),
  'gu',
)

/** Parentheses without a code or a name. */
const DETAIL =
  /\s*[(（](?!(?:reading|setting|evaluating)\b|(?:code|error ?code|errorCode|status)[\s:=]*["'A-Z\d]|[a-z]+\/[a-z]|[A-Z][A-Za-z]+[A-Z_]|["'`])[^()（）]*[)）]/g
/** `[topic=orders partition=3]`, `#general`, `@ada`. */
const NOTE = /\s*\[[^[\]]*[=][^[\]]*\]|[#@][\w-]+/g
const VALUE_AT_END =
  /,? (?:got|received|found|but got|but received|but found|but was|actual|instead of) [^,.;:]*$|(?<=\b(?:status|state) (?:is|was) )[^,.;:]*/i
const EXIT_CODE = /exit(?:ed)?(?: with)?(?: code| status)? $/

export function wordsOf(shape: string): readonly string[] {
  const text = shape.replaceAll(DETAIL, ' ').replaceAll(NOTE, ' ').replace(VALUE_AT_END, ' ')
  const reader = new Reader(text)
  for (const { 0: token, index, groups = {} } of text.matchAll(TOKEN)) {
    const { placeholder, quoted, number, word, end, clause } = groups
    if (word !== undefined) reader.word(word, index)
    else if (quoted !== undefined) reader.quoted(quoted, index)
    else if (number !== undefined) reader.number(number, index)
    else if (placeholder !== undefined) reader.value()
    else if (end !== undefined || clause !== undefined) reader.clause(end !== undefined)
    else if (token === ',') reader.comma()
    if (reader.isDone) break
  }
  return reader.words
}

class Reader {
  words: string[] = []
  isDone = false
  readonly #text: string
  #inClause = 0
  #limit = FIRST_CLAUSE
  #startsClause = true
  /** After this, only names of a schema and codes count. */
  #isOver = false

  constructor(text: string) {
    this.#text = text
  }

  word(word: string, at: number): void {
    const isFirst = this.#startsClause
    this.#startsClause = false
    if (word === 'None' || this.#isRest(word, at)) return
    if (!(isFirst || isConstant(word)) || isRandomWord(word)) return
    const one = singular(word)
    // Words in front of a code are those of a wrapper.
    if (CONSTANT_CODE.test(word)) this.words = [...this.words.filter((before) => before.includes('_')), one]
    else if (this.#counts(word, at) && !this.#isName(word, one, at, isFirst)) this.#add(one)
  }

  /** Names of a schema count wherever they are; values in quotes are placeholders already. */
  quoted(quoted: string, at: number): void {
    this.#startsClause = false
    const isPlain = quoted.startsWith('`') && !/[._()]|[a-z][A-Z]/.test(quoted)
    if (isPlain && !isSchemaWord(this.#text, at, at + quoted.length)) return
    const name = quoted.slice(1, -1).replace(/^\[<n>\]\.?/, '')
    if (/^[\w$.()[\]-]+$/.test(name)) this.words.push(name.toLowerCase())
  }

  /**
   * A status or error code, because the shape has no other numbers. A number before all words may be the
   * status of a reply, and does not count.
   */
  number(number: string, at: number): void {
    if (this.words.length > 0 && !EXIT_CODE.test(this.#text.slice(0, at))) this.words.push(number)
  }

  value(): void {
    this.#startsClause = false
    if (this.#inClause >= ENOUGH) this.#inClause = this.#limit
  }

  comma(): void {
    if (this.words.length >= ENOUGH) this.#isOver = true
  }

  clause(isEnd: boolean): void {
    this.isDone = isEnd && (this.#isOver || this.words.length >= ENOUGH)
    // The place of a value in a document, and the words of a validator about it.
    const isPlace = this.words.length === 1 && this.words[0]?.includes('.') === true
    if (this.#inClause >= LITTLE || isPlace) this.#limit = NEXT_CLAUSE
    this.#inClause = 0
    this.#startsClause = true
  }

  #add(word: string): void {
    this.#inClause += 1
    if (this.words.at(-1) !== word) this.words.push(word)
    this.isDone = this.words.length > MOST_WORDS
  }

  #counts(word: string, at: number): boolean {
    if (IDENTIFIER.test(word) || isFieldName(this.#text, at, word)) return true
    return !this.#isOver && this.#inClause < this.#limit
  }

  #isName(word: string, one: string, at: number, isFirst: boolean): boolean {
    if (STOP_WORDS.has(one)) return true
    if (this.words.length === 0 || !(isFirst || /^\p{Ll}/u.test(word))) return false
    return followsNoun(this.#text, at, word)
  }

  /** Whether the word is the rest of an id, or the unit of a number. */
  #isRest(word: string, at: number): boolean {
    const text = this.#text
    if ((text[at - 1] === '>' || text[at + word.length] === '<') && !CJK.test(word)) return true
    return UNIT.test(word) && text.slice(0, at).endsWith('<n> ')
  }
}
