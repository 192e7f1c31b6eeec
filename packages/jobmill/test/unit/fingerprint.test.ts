/** Errors that differ only in variable parts have the same fingerprint. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyCharacter } from '../../../../test/support/any-character.ts'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { FINGERPRINT, fingerprintOf, literalOf, shapeOf } from '../../src/job/fingerprint.ts'

const RUNS = Number(process.env['JOBMILL_RUNS'] ?? inFull(2_000, 300))
const check = <T>(property: fc.IProperty<T>): void => fc.assert(property, { numRuns: RUNS, seed: 20_261_116 })

const message = ({ id, text, email, url, path }: Record<string, string>): string =>
  `E: could not send job ${id} (of "${text}") to ${email}, because ${url} said no at ${path}\nat line ${id}`

describe('the shape of an error', () => {
  test.each([
    ['Error: user 42 not found\n  caused by: Error: no row', 'Error: user <n> not found'],
    ['Error: took 1,234.5 ms, not -7', 'Error: took <n> ms, not <n>'],
    ['\n\n  TypeError: x is not a function  \r\nat y', 'TypeError: x is not a function'],
    [`Error: duplicate key "users_email_key" of 'a b'`, 'Error: duplicate key <text> of <text>'],
    [`Error: can't read 'it's' and don't care`, `Error: can't read <text> and don't care`],
    ['Error: say "hello', 'Error: say "hello'],
    ['job 0190c5a0-7e1c-7b6a-9f3e-2d1c0b9a8f7e is gone', 'job <n> is gone'],
    ['commit deadbeefcafe by ada.l@example.co.uk.', 'commit <n> by <email>'],
    ['GET https://a.b/c?d=e&f=(g) failed: 503', 'GET <url> failed: <n>'],
    ['ENOENT: no such file, open /tmp/a-1/b.txt', 'ENOENT: no such file, open <path>'],
    ['at run (src/work/run.ts:12:4)', 'at run (<path>:<n>:<n>)'],
    ['open C:\\Users\\ada', 'open C:<path>'],
    ['and/or text/plain', 'and/or text/plain'],
    ['connect ECONNREFUSED 127.0.0.1:5432', 'connect ECONNREFUSED <n>:<n>'],
    ['ids 1, 2, 3', 'ids <n>'],
    ['token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0', 'token <n>'],
    ['', ''],
    ['word '.repeat(60), `${'word '.repeat(40).slice(0, 199)}…`],
  ])('%j', (error, shape) => expect(shapeOf(error)).toBe(shape))

  test('is its own shape, has at most 200 characters, and its literal part occurs in the error', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '"',
        "'",
        '`',
        '<',
        '>',
        '<n>',
        '<text>',
        '…',
        '://',
        '@',
        '.',
        '/',
        '\\',
        '-',
        ',',
        ' ',
        ':',
        '=',
      ),
      fc.constantFrom(
        'deadbeef',
        'x',
        '1',
        'a@b.cc',
        'http://a',
        '/tmp/x',
        '0x',
        'e',
        '\u{1F600}',
        '\uD800',
        '\n',
      ),
      fc.string({ unit: anyCharacter, maxLength: 12 }),
      fc.string({ unit: 'grapheme-ascii', maxLength: 80 }),
    )
    check(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const error = pieces.join('')
        const shape = shapeOf(error)
        expect(shapeOf(shape)).toBe(shape)
        expect(shape.length).toBeLessThanOrEqual(200)
        expect(error).toContain(literalOf(shape))
        expect(fingerprintOf('a', error).fingerprint).toMatch(FINGERPRINT)
      }),
    )
  })

  test('ignores numbers, ids, quoted texts, addresses and paths', () => {
    const hex = fc.string({
      unit: fc.constantFrom(...'0123456789abcdef'.split('')),
      minLength: 8,
      maxLength: 64,
    })
    const word = fc.string({ unit: fc.constantFrom(...'abcxyz019-_'.split('')), minLength: 1, maxLength: 10 })
    const anyText = fc.string({ unit: anyCharacter, maxLength: 12 })
    const number = fc.oneof(
      fc.integer().map(String),
      fc.integer().map((n) => n.toLocaleString('en')),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    )
    const filled = fc.record({
      id: fc.oneof(number, fc.uuid(), hex),
      text: fc.oneof(fc.string({ maxLength: 50 }), word).map((text) => text.replaceAll(/["\r\n]/g, '')),
      email: fc.tuple(word, word).map(([name, host]) => `${name}@${host}.example`),
      url: fc
        .tuple(fc.domain(), anyText, fc.dictionary(anyText, anyText, { maxKeys: 3 }))
        .map(([host, page, query]) => {
          const url = `https://${host}/${encodeURIComponent(page)}?${String(new URLSearchParams(query))}`
          return url.replaceAll("'", '')
        }),
      path: fc.array(word, { minLength: 1, maxLength: 5 }).map((parts) => `/${parts.join('/')}`),
    })
    check(
      fc.property(filled, filled, (one, other) => {
        expect(shapeOf(message(one))).toBe(shapeOf(message(other)))
      }),
    )
  })

  test('differs for another kind and for other words', () => {
    const { fingerprint } = fingerprintOf('a', 'no 1')
    expect(fingerprintOf('a', 'no 2').fingerprint).toBe(fingerprint)
    expect(fingerprintOf('b', 'no 1').fingerprint).not.toBe(fingerprint)
    expect(fingerprintOf('a', 'not 1').fingerprint).not.toBe(fingerprint)
    expect(fingerprintOf('a', null)).toEqual(fingerprintOf('a', ' \n'))
  })

  test('is computed fast for a long line made to be slow', () => {
    const pieces = [
      "'a ",
      'a',
      '"',
      '0x',
      'a/',
      '<',
      'a.',
      'a@',
      '1,',
      'deadbeef-',
      ' ',
      'a-a+',
      '<n>,',
      "a'",
    ]
    for (const piece of pieces) {
      const long = piece.repeat(Math.ceil(1_000_000 / piece.length))
      for (let n = 0; n < 20; n += 1) expect(shapeOf(long).length).toBeLessThanOrEqual(200)
    }
  })
})
