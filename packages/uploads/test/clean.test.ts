/** The rules for names, types, headers, ranges, ids and sizes, as tables. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyCharacter } from '../../../test/support/any-character.ts'
import { inFull } from '../../../test/support/suite/in-full.ts'
import { byteRange } from '../src/clean/byte-range.ts'
import { cleanName } from '../src/clean/clean-name.ts'
import { cleanType } from '../src/clean/clean-type.ts'
import { disposition } from '../src/clean/disposition.ts'
import { cleanId } from '../src/clean/ids.ts'
import { bytesOf } from '../src/config/sizes.ts'
import { inPieces } from '../src/blobs/in-pieces.ts'
import { partsOf } from '../src/blobs/blob-store.ts'

describe('B4 the rule for names', () => {
  test.each([
    ['hello world!.pdf', 'hello_world_.pdf'],
    ['report.pdf', 'report.pdf'],
    ['/etc/passwd', 'passwd'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\Users\\ada\\x.doc', 'x.doc'],
    ['..', 'file'],
    ['.', 'file'],
    ['', 'file'],
    ['a/', 'file'],
    ['a/..', 'file'],
    ['.bashrc', '.bashrc'],
    ['naïve.txt', 'na_ve.txt'],
    ['😀.png', '_.png'],
    ['a\r\nSet-Cookie: x', 'a__Set-Cookie__x'],
    ['a"b;c', 'a_b_c'],
    ['a\0b', 'a_b'],
    ['a b\tc', 'a_b_c'],
    ['x'.repeat(100), 'x'.repeat(100)],
    ['x'.repeat(101), 'x'.repeat(100)],
    [`${'x'.repeat(100)}.pdf`, `${'x'.repeat(96)}.pdf`],
    [`${'x'.repeat(100)}.${'y'.repeat(15)}`, `${'x'.repeat(84)}.${'y'.repeat(15)}`],
    [`${'x'.repeat(100)}.${'y'.repeat(16)}`, 'x'.repeat(100)],
    [`.${'y'.repeat(120)}`, `.${'y'.repeat(99)}`],
  ])('%j becomes %j', (input, clean) => {
    expect(cleanName(input)).toBe(clean)
  })

  test('any cleaned name is safe in paths and headers, and cleaning is idempotent', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 300 }), (input) => {
        const clean = cleanName(input)
        expect(clean).toMatch(/^[A-Za-z0-9._-]{1,100}$/)
        expect(['.', '..']).not.toContain(clean)
        expect(cleanName(clean)).toBe(clean)
      }),
      { numRuns: inFull(1_000, 100) },
    )
  })
})

test.each([
  ['', ''],
  ['   ', ''],
  ['text/plain', 'text/plain'],
  ['text/plain; charset=utf-8', 'text/plain'],
  [' image/png ', 'image/png'],
  ['; charset=x', ''],
  ['text', 'application/octet-stream'],
  ['text/', 'application/octet-stream'],
  ['/plain', 'application/octet-stream'],
  ['a/b/c', 'application/octet-stream'],
  ['text/pl ain', 'application/octet-stream'],
  ['text/plain\r\nX: y', 'application/octet-stream'],
  ['téxt/plain', 'application/octet-stream'],
  [`a/${'b'.repeat(300)}`, 'application/octet-stream'],
])('B4 the rule for types: %j becomes %j', (input, clean) => {
  expect(cleanType(input)).toBe(clean)
})

describe('B5 Content-Disposition', () => {
  test.each([
    ['a.pdf', `attachment; filename="a.pdf"; filename*=UTF-8''a.pdf`],
    ['a"b\\c', `attachment; filename="a\\"b\\\\c"; filename*=UTF-8''a%22b%5Cc`],
    ['a\r\nSet-Cookie: x', `attachment; filename="aSet-Cookie: x"; filename*=UTF-8''aSet-Cookie%3A%20x`],
    ['naïve', `attachment; filename="na_ve"; filename*=UTF-8''na%C3%AFve`],
    ["a'(b)*", `attachment; filename="a'(b)*"; filename*=UTF-8''a%27%28b%29%2A`],
  ])('of %j', (name, header) => {
    expect(disposition(name)).toBe(header)
  })

  test('any name gives a valid header', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 80 }), (name) => {
        expect(new Headers({ 'content-disposition': disposition(name) }).get('content-disposition')).toMatch(
          /^attachment; filename="(?:[^"\\]|\\.)*"; filename\*=UTF-8''[\w.!~%-]*$/,
        )
      }),
    )
  })
})

describe('B5 ranges', () => {
  test.each([
    [null, null],
    ['bytes=0-3', { start: 0, end: 3 }],
    ['bytes=2-', { start: 2, end: 9 }],
    ['bytes=-3', { start: 7, end: 9 }],
    ['bytes=-30', { start: 0, end: 9 }],
    ['bytes=0-99', { start: 0, end: 9 }],
    ['bytes=9-9', { start: 9, end: 9 }],
    ['bytes=10-', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=5-2', null],
    ['bytes=-', null],
    ['bytes=0-1,3-4', null],
    ['lines=1-2', null],
    ['bytes=a-b', null],
    ['bytes=99999999999999999999-', 'unsatisfiable'],
  ] as const)('%j of ten bytes', (header, range) => {
    expect(byteRange(header, 10)).toEqual(range)
  })

  test('every range is within the file', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.tuple(fc.nat(), fc.nat()).map(([a, b]) => `bytes=${a}-${b}`),
        ),
        fc.integer({ min: 1, max: 1_000 }),
        (header, size) => {
          const range = byteRange(header, size)
          if (range === null || range === 'unsatisfiable') return
          expect(range.start).toBeGreaterThanOrEqual(0)
          expect(range.end).toBeGreaterThanOrEqual(range.start)
          expect(range.end).toBeLessThan(size)
        },
      ),
    )
  })
})

test('E40 ids are case-insensitive', () => {
  expect(cleanId('01A1E2EB-4065-7599-A3B2-83DFCF0F580C')).toBe('01a1e2eb-4065-7599-a3b2-83dfcf0f580c')
  for (const bad of [
    '',
    'x',
    '../x',
    '01a1e2eb40657599a3b283dfcf0f580c',
    '01a1e2eb-4065-7599-a3b2-83dfcf0f580c\n',
  ])
    expect(cleanId(bad)).toBeNull()
})

test('only ids from the inbox are blob ids', () => {
  expect(partsOf('01a1e2eb-4065-7599-a3b2-83dfcf0f580c/12')).toEqual([
    '01a1e2eb-4065-7599-a3b2-83dfcf0f580c',
    '12',
  ])
  for (const bad of ['../../etc/passwd', 'a/1', '01a1e2eb-4065-7599-a3b2-83dfcf0f580c/../1', ''])
    expect(() => partsOf(bad)).toThrow('invalid blob id')
})

test.each([
  [1_000, 1_000],
  ['100MiB', 104_857_600],
  ['1.5 kb', 1_500],
  ['7', 7],
  ['lots', null],
  ['1 parsec', null],
  [1.5, null],
])('a size of %j is %j', (input, bytes) => {
  expect(bytesOf(input)).toBe(bytes)
})

test('bytes in pieces are the same bytes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 20 })),
      fc.integer({ min: 1, max: 9 }),
      async (chunks, size) => {
        const pieces: Uint8Array[] = []
        const given = (async function* () {
          yield* chunks
        })()
        for await (const piece of inPieces(given, size)) pieces.push(Uint8Array.from(piece))
        expect(Buffer.concat(pieces)).toEqual(Buffer.concat(chunks))
        for (const piece of pieces.slice(0, -1)) expect(piece).toHaveLength(size)
      },
    ),
  )
})
