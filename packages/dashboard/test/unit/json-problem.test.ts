/** Messages for invalid JSON. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { indent } from '../../src/kit/json/indent.ts'
import { readJson } from '../../src/kit/json/json-problem.ts'

const problem = (text: string): string | null => {
  const read = readJson(text)
  return 'problem' in read ? `${read.problem.line}:${read.problem.column} ${read.problem.says}` : null
}

test.each([
  ['', '1:1 Empty; enter null for no value'],
  ['{"a": 1,}', '1:9 Remove the comma before }'],
  ['{\n  "a": 1\n  "b": 2\n}', '3:3 Missing comma or }'],
  ['[1, 2', '1:6 Missing ]'],
  ["{'a': 1}", '1:2 Strings must be in double quotes'],
  ['{a: 1}', '1:2 Missing key in double quotes'],
  ['{"a": 1, b: 2}', '1:10 Missing key in double quotes'],
  ['{"a" 1}', '1:6 Missing colon'],
  ['{"a": "x\ny"}', '1:7 String is not closed, or contains a line break or an invalid \\ escape'],
  ['{"a": undefined}', '1:7 Invalid value; strings must be in double quotes'],
  ['1 2', '1:3 Unexpected text after the value'],
  ['[01]', '1:2 Invalid value; strings must be in double quotes'],
  ['[1, 2,]', '1:7 Remove the comma before ]'],
  ['{"a": }', '1:7 Missing value'],
  ['{"a"}', '1:5 Missing colon and value'],
  ['{}]', '1:3 Unexpected text after the value'],
  [']', '1:1 Invalid value; strings must be in double quotes'],
])('%j', (text, says) => {
  expect(problem(text)).toBe(says)
})

test('accepts what the browser parses, and finds a position in anything else, at any depth', () => {
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
  expect(problem('['.repeat(500_000))).toBe('1:500001 Missing ]')
})

test('Tab moves the caret, or the lines that are marked, and back', () => {
  expect(indent({ text: 'ab', start: 1, end: 1 }, false)).toEqual({ text: 'a  b', start: 3, end: 3 })
  const marked = { text: 'a\nbc\nd', start: 0, end: 3 }
  const moved = indent(marked, false)
  expect(moved).toEqual({ text: '  a\n  bc\nd', start: 2, end: 7 })
  expect(indent(moved, true)).toEqual(marked)
  expect(indent({ text: 'a', start: 1, end: 1 }, true)).toEqual({ text: 'a', start: 1, end: 1 })
})
