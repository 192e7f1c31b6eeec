/**
 * A program that passes every hostile text to every check, the given number of times. It exits normally when
 * the given memory is enough.
 */
import { isJobmillError } from '../../src/job/errors.ts'
import { jsonText } from '../../src/job/text/json-text.ts'
import { CHECKS, used } from './checks.ts'
import { TEXTS, WHENS } from './corpus.ts'

const TIMES = Number(process.argv[2])

const takers: readonly ((text: string) => unknown)[] = [
  ...CHECKS.map(([, check]) => check),
  (text) => used(text),
  (text) => jsonText({ text, list: [text, { [text.slice(0, 100)]: text }] }, 'payload', 1_048_576),
]

let refused = 0
for (let time = 0; time < TIMES; time += 1)
  for (const text of [...TEXTS, ...WHENS])
    for (const take of takers) {
      try {
        take(text)
      } catch (error) {
        if (!isJobmillError(error)) throw error
        refused += 1
      }
    }
console.log(`${refused} refused`)
