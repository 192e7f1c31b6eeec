/** Where a text stops being JSON. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { indented } from '../../src/kit/indent.ts'
import { readJson } from '../../src/kit/json-problem.ts'

const problem = (text: string): string | null => {
  const read = readJson(text)
  return 'problem' in read ? `${read.problem.line}:${read.problem.column} ${read.problem.says}` : null
}

test.each([
  ['', '1:1 There is nothing here; write null for no value'],
  ['{"a": 1,}', '1:9 Nothing follows the comma before }'],
  ['{\n  "a": 1\n  "b": 2\n}', '3:3 A comma or a } is missing'],
  ['[1, 2', '1:6 A ] is missing'],
  ["{'a': 1}", '1:2 Texts stand in double quotes'],
  ['{a: 1}', '1:2 A key in double quotes is missing'],
  ['{"a": 1, b: 2}', '1:10 A key in double quotes is missing'],
  ['{"a" 1}', '1:6 A colon is missing'],
  ['{"a": "x\ny"}', '1:7 This text does not end, or has a line break or a wrong \\ in it'],
  ['{"a": undefined}', '1:7 This is no value: texts stand in double quotes'],
  ['1 2', '1:3 Nothing may follow here'],
  ['[01]', '1:2 This is no value: texts stand in double quotes'],
  ['[1, 2,]', '1:7 Nothing follows the comma before ]'],
])('%j', (text, says) => {
  expect(problem(text)).toBe(says)
})

test('reads what the browser reads, and finds a place in what it does not, at any depth', () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(), fc.string(), (text, at, put) => {
      expect(readJson(text)).toEqual({ value: JSON.parse(text) as unknown })
      const broken = text.slice(0, at % (text.length + 1)) + put + text.slice(at % (text.length + 1))
      const read = readJson(broken)
      if (!('problem' in read)) return
      expect(read.problem.line).toBeGreaterThan(0)
      expect(read.problem.column).toBeGreaterThan(0)
      expect(read.problem.column).toBeLessThanOrEqual(broken.length + 1)
    }),
  )
  expect(problem('['.repeat(500_000))).toBe('1:500001 A ] is missing')
})

test('Tab moves the caret, or the lines that are marked, and back', () => {
  expect(indented({ text: 'ab', start: 1, end: 1 }, false)).toEqual({ text: 'a  b', start: 3, end: 3 })
  const marked = { text: 'a\nbc\nd', start: 0, end: 3 }
  const moved = indented(marked, false)
  expect(moved).toEqual({ text: '  a\n  bc\nd', start: 2, end: 7 })
  expect(indented(moved, true)).toEqual(marked)
  expect(indented({ text: 'a', start: 1, end: 1 }, true)).toEqual({ text: 'a', start: 1, end: 1 })
})
