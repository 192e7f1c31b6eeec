/** The end of a stream of bytes: the last 4 KiB, in whole characters. */
import { describe, expect, test } from 'vitest'
import { errorText } from '../../../src/job/text/error-text.ts'
import { Tail } from '../../../src/work/handlers/tail.ts'

function tailOf(...chunks: (string | Buffer)[]): Tail {
  const tail = new Tail()
  for (const chunk of chunks) tail.add(Buffer.from(chunk))
  return tail
}

test('a short text is kept whole', () => {
  expect(tailOf().text()).toBe('')
  expect(tailOf('one ', 'two').text()).toBe('one two')
  expect(tailOf('x'.repeat(4_096)).text()).toBe('x'.repeat(4_096))
})

test('the last 4 KiB of a long text are kept, in one chunk or in many', () => {
  const long = `${'a'.repeat(10_000)}${'b'.repeat(4_000)}end`
  const end = long.slice(-4_096)
  expect(tailOf(long).text()).toBe(end)
  expect(tailOf(...(long.match(/.{1,7}/g) ?? [])).text()).toBe(end)
})

describe('the tail never starts with half a character', () => {
  test.for(['é', '€', '😀'])('%s at every offset', (character) => {
    for (let offset = 0; offset < 4; offset += 1) {
      const text = tailOf(`${character.repeat(3_000)}${'x'.repeat(offset)}`).text()
      expect(text).toMatch(new RegExp(`^(?:${character})+x{${offset}}$`, 'u'))
      expect(Buffer.byteLength(text)).toBeGreaterThan(4_096 - 4)
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4_096)
    }
  })
})

test('the tail never ends with half a character', () => {
  const bytes = Buffer.from('all but one byte: 😀')
  expect(tailOf(bytes.subarray(0, -1)).text()).toBe('all but one byte: ')
})

test('a character that spans two chunks is one character', () => {
  const bytes = Buffer.from('a😀b')
  expect(tailOf(bytes.subarray(0, 3), bytes.subarray(3)).text()).toBe('a😀b')
})

test('a text that was not cut keeps its first bytes, even if they are not valid UTF-8', () => {
  expect(tailOf(Buffer.from([0x80, 0x41])).text()).toBe('\u{fffd}A')
})

test('NUL, which PostgreSQL cannot store, is replaced', () => {
  expect(tailOf('a\u0000b').text()).toBe('a\u{fffd}b')
})

test('the end of the tail in an error message is not cut when the error is stored', () => {
  const tail = tailOf(`${'noise '.repeat(2_000)}the reason\n`)
  const stored = errorText(new Error(`"some/long/path" failed with exit code 3${tail.inMessage()}`))
  expect(stored).toMatch(/exit code 3: .*the reason$/s)
  expect(tailOf(' \n').inMessage()).toBe('')
})
