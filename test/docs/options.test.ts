// docs/reference/options.md is what the generator writes, and the generator misses no option with a number.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { optionsPage, readFacts } from '../support/options-page/page.ts'
import { VALUES } from '../support/options-page/values.ts'

const facts = await readFacts()

test('docs/reference/options.md says what the code says', () => {
  const page = readFileSync(new URL('../../docs/reference/options.md', import.meta.url), 'utf8')
  expect(page, 'Run `npm run options`').toBe(optionsPage(facts))
})

test.each([
  ['a number', 'MillOptions.capacity'],
  ['a duration', 'QueueOptions.backoff.base'],
  ['an inherited option', 'ServeOptions.port'],
])('the page of options needs the default or the bounds of %s', (_, key) => {
  const { [key]: _removed, ...others } = VALUES
  expect(() => optionsPage(facts, others)).toThrow(`${key} has a number or a duration`)
})

test('the page of options has no default of an option that does not exist', () => {
  expect(() => optionsPage(facts, { ...VALUES, 'MillOptions.gone': {} })).toThrow(
    'no such options: MillOptions.gone',
  )
})

test('the page of options compares defaults in comments with the code', () => {
  const wrong = { ...VALUES, 'MillOptions.grace': { default: '26 s' } }
  expect(() => optionsPage(facts, wrong)).toThrow('MillOptions.grace: the comment says "default 25 s"')
})
