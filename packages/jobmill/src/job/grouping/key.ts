/**
 * The key that errors with the same cause share: a code that names the cause, or else the words that say what
 * happened.
 */
import { causeCode } from './codes.ts'
import { messageOf } from './message.ts'
import { CJK } from './word-forms.ts'
import { wordsOf } from './words.ts'

/** With fewer words than this, the class of the error says more. */
const LEAST_WORDS = 3
export const CLASS = /^[\p{L}_$][\p{L}\p{N}_$.]{0,79}(?=: )/u
/** A validator names the place of a value before it says what is wrong with it. */
const BEFORE_PLACE = /^[^/]*(?<![^\s])(?=[\w.<>]+(?:\/[\w.<>-]+)+ must )/
/** `Invalid Record Length: …` */
const TITLE = /^\p{Lu}\p{Ll}+(?: \p{Lu}\p{Ll}+){2,5}(?=:)/u

export function keyOf(error: string, shape: string): string {
  const code = causeCode(messageOf(error))
  if (code !== null) return code
  const name = CLASS.exec(shape)?.[0] ?? ''
  const text = shape.slice(name === '' ? 0 : name.length + 2).replace(BEFORE_PLACE, '')
  const title = TITLE.exec(text)
  if (title !== null) return title[0].toLowerCase()
  const words = wordsOf(text)
  // Libraries wrap errors, so the class counts only for an error that says little else.
  const isEnough = words.length >= LEAST_WORDS || words.some((word) => CJK.test(word))
  return (isEnough ? words : [name.toLowerCase(), ...words]).join(' ')
}
