/** Splits chunks into lines, however they are cut. */
import { expect, test } from 'vitest'
import { LineSplitter } from '../../../src/work/handlers/line-splitter.ts'

function linesOf(splitter: LineSplitter, ...chunks: (string | Buffer)[]): (string | null)[] {
  return chunks.flatMap((chunk) => [...splitter.add(Buffer.from(chunk))])
}

test('a chunk can hold no line, one, or several', () => {
  const splitter = new LineSplitter(100)
  expect(linesOf(splitter, 'a')).toEqual([])
  expect(linesOf(splitter, 'b\n')).toEqual(['ab'])
  expect(linesOf(splitter, 'c\n\nd\ne')).toEqual(['c', '', 'd'])
  expect(linesOf(splitter, '\n')).toEqual(['e'])
})

test('a character that spans two chunks is one character', () => {
  const bytes = Buffer.from('a😀b\n')
  expect(linesOf(new LineSplitter(100), bytes.subarray(0, 3), bytes.subarray(3))).toEqual(['a😀b'])
})

test('a line can have as many bytes as the limit, and no more', () => {
  expect(linesOf(new LineSplitter(4), '1234\n')).toEqual(['1234'])
  expect(linesOf(new LineSplitter(4), '12', '345')).toEqual([null])
  expect(linesOf(new LineSplitter(4), 'ok\n12345\nok\n')).toEqual(['ok', null])
  expect(linesOf(new LineSplitter(4), 'ééé\n')).toEqual([null])
})
