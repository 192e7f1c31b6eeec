/** Errors that differ only in variable parts have the same fingerprint. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyCharacter } from '../../../../test/support/any-character.ts'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { FINGERPRINT, fingerprintOf, literalsOf } from '../../src/job/grouping/fingerprint.ts'
import { shapeOf } from '../../src/job/grouping/shape.ts'

const RUNS = Number(process.env['JOBMILL_RUNS'] ?? inFull(2_000, 300))
const check = <T>(property: fc.IProperty<T>): void => fc.assert(property, { numRuns: RUNS, seed: 20_261_116 })

const message = ({ id, text, email, url, path }: Record<string, string>): string =>
  `E: could not send job ${id} (of "${text}") to ${email}, because ${url} said no at ${path}\nat line ${id}`

describe('the shape of an error', () => {
  test.each([
    ['Error: user 42 not found\n  caused by: Error: no row', 'Error: user <n> not found'],
    ['Error: took 1,234.5 ms, not -7', 'Error: took <n> ms, not <n>'],
    ['\n\n  TypeError: x is not a function  \r\n  at y', 'TypeError: x is not a function'],
    [
      'PrismaError: \nInvalid `prisma.user.create()` in\n/app/a.js:3:9\n\n  3 x(\n\nUnique: (`email`)',
      'PrismaError: Unique: (`email`)',
    ],
    [`Error: duplicate key "users_email_key" of 'a b'`, 'Error: duplicate key "users_email_key" of <text>'],
    [`Error: can't read 'it's' and don't care`, `Error: can't read <text> and don't care`],
    ['Error: say "hello', 'Error: say "hello'],
    ['job 0190c5a0-7e1c-7b6a-9f3e-2d1c0b9a8f7e is gone', 'job <id> is gone'],
    ['no such intent pi_3PsB8eKb9aWmUe2R2LhFgJ7w (request req_76aueacb95)', 'no such intent pi_<id>'],
    ['order 01JA0B6PWY9GTQ3DSHZ8FN4KMX on web-7f9c6d8b5-x2x9q', 'order <id> on web-<id>-<id>'],
    ['invoice INV-2026-00012 of utf8 and sha256', 'invoice <id> of utf<n> and sha<n>'],
    ['Request failed with status code 429', 'Request failed with status code 429'],
    ['hook answered 410 Gone after 212 ms', 'hook answered 410 Gone after <n> ms'],
    ['14 UNAVAILABLE: read ECONNRESET', '14 UNAVAILABLE: read ECONNRESET'],
    ['jwt expired at 2026-03-02T09:58:11.000Z', 'jwt expired at <date>'],
    ['closed since March 2, 2025', 'closed since <date>'],
    ['getaddrinfo ENOTFOUND db.shop.internal', 'getaddrinfo ENOTFOUND <host>'],
    ['Customer Piotr Zieliński has no address', 'Customer <name> has no address'],
    ['Request failed: Internal Server Error', 'Request failed: Internal Server Error'],
    ["cannot read (reading 'total')", "cannot read (reading 'total')"],
    ['commit deadbeef0afe by ada.l@example.co.uk.', 'commit <id> by <email>'],
    ['GET https://a.b/c?d=e&f=(g) failed: 503', 'GET <url> failed: 503'],
    ['ENOENT: no such file, open /tmp/a-1/b.txt', 'ENOENT: no such file, open <path>'],
    ['at run (src/work/run.ts:12:4)', 'at run (<path>:<n>:<n>)'],
    ['open C:\\Users\\ada', 'open C:<path>'],
    ['and/or text/plain', 'and/or text/plain'],
    ['connect ECONNREFUSED 127.0.0.1:5432', 'connect ECONNREFUSED <host>'],
    ['ids 1, 2, 3', 'ids <n>'],
    ['token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0', 'token <id>'],
    ['no nanoid V1StGXR8_Z5jdHi6B-myT', 'no nanoid <id>'],
    ['no KSUID 0ujtsYcgvSTl8PAuAdqWYSMnLOv', 'no KSUID <id>'],
    ['no Slack user U0G9QF9C6 of T024BE7LD', 'no Slack user <id> of <id>'],
    ['bad ghp_16C7e42F292c6912E7710c838347Ae178B4a', 'bad <id>'],
    ['not authorized on arn:aws:s3:::exports/2026/03/a.csv', 'not authorized on <url>'],
    ['AWS request 4X1Q0ZB9C3D4E5F6 failed', 'AWS request <id> failed'],
    ['connect to [2001:db8::1f]:8080 or fd00:10:96::e03', 'connect to [<host>]:<n> or <host>'],
    ['waited 1m30s, at 09:30:00', 'waited <n>, at <n>:<n>:<n>'],
    ['closed since 3 марта 2026 and 28. Februar 2026', 'closed since <date> and <date>'],
    ['on 2026/03/01 18:00 and 令和8年2月28日', 'on <date> and <date>'],
    ['cannot read report_2026.csv', 'cannot read <path>'],
    ['400 {"error":{"code":"x","message":"too long"},"status":400} (attempt 2)', '<n> too long'],
    ['', ''],
    ['word '.repeat(120), `${'word '.repeat(80).slice(0, 399)}…`],
  ])('%j', (error, shape) => expect(shapeOf(error)).toBe(shape))

  test('is its own shape, has at most 400 characters, and its literal parts occur in the error', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '"',
        "'",
        '`',
        '<',
        '>',
        '<n>',
        '<text>',
        '<id>',
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
        expect(shape.length).toBeLessThanOrEqual(400)
        for (const part of literalsOf(shape, error)) expect(error).toContain(part)
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
        expect(fingerprintOf('a', message(one))).toMatchObject({
          fingerprint: fingerprintOf('a', message(other)).fingerprint,
        })
      }),
    )
  })

  test.each([
    ['Error: Order 7 was already shipped on 2026-02-27 with DHL', 'Error: Order 8 was already shipped'],
    ['StripeError: TLS failed (request req_76aueacb95)', 'StripeError: TLS failed (request req_b1kq0c9wz2)'],
    ['Error: Invoice 7: customer Ana Lima is blocked', 'Error: Invoice 8: customer Bo Chen is blocked'],
    ['Error: tenant acme exceeded its quota', 'Error: tenant globex exceeded its quota'],
    ['Error: only 1 item is left in the warehouse', 'Error: only 2 items are left near lyon'],
    ['Error: SMTP failed: 550-5.1.1 unknown', 'SmtpError: rejected: 550 5.1.1 <a@b.example>: no user'],
    ['FetchError: connect ECONNREFUSED 10.0.0.7:25', 'Error: down: connect ECONNREFUSED 10.0.0.8:25'],
    ['Error: curl: (28) Timeout was reached', 'Error: exit 28\n\ncurl: (28) Connection timed out'],
    [
      'Error: Unexpected token < in JSON at position 0',
      `Error: Unexpected token '<', "<a" is not valid JSON`,
    ],
    ['Error: disk: No space left on device', 'Error: ENOSPC: no space left on device, write'],
  ])('%j and %j are one group', (one, other) => {
    expect(fingerprintOf('a', one).fingerprint).toBe(fingerprintOf('a', other).fingerprint)
  })

  test.each([
    ['Error: Order 7 was already shipped', 'Error: Order 7 was cancelled by the customer'],
    ['AxiosError: Request failed with status code 429', 'AxiosError: Request failed with status code 500'],
    ['Error: missing required field amount', 'Error: missing required field currency'],
    ['error: violates constraint "a_key"', 'error: violates constraint "b_key"'],
    ['Error: INVALID_GRANT: expired', 'Error: INVALID_SCOPE: expired'],
    ['Error: connect ECONNREFUSED 10.0.0.7:25', 'Error: connect ETIMEDOUT 10.0.0.7:25'],
    ['Error: 550 5.1.1 no user', 'Error: 552 5.2.2 no user'],
    ["Error: reading 'a' of undefined (reading 'a')", "Error: reading 'b' of undefined (reading 'b')"],
  ])('%j and %j are two groups', (one, other) => {
    expect(fingerprintOf('a', one).fingerprint).not.toBe(fingerprintOf('a', other).fingerprint)
  })

  test('differs for another kind and for other words', () => {
    const { fingerprint } = fingerprintOf('a', 'no 1')
    expect(fingerprintOf('a', 'no 2').fingerprint).toBe(fingerprint)
    expect(fingerprintOf('b', 'no 1').fingerprint).not.toBe(fingerprint)
    expect(fingerprintOf('a', 'not 1').fingerprint).not.toBe(fingerprint)
    expect(fingerprintOf('a', null)).toEqual(fingerprintOf('a', ' \n'))
  })

  test('is computed fast for hundreds of blank lines', () => {
    const blank = '\n'.repeat(2_000)
    for (const error of [`x${blank}y\n\nz`, `x${blank}y${blank}z`, `x\n${' \n'.repeat(2_000)}y`])
      for (let n = 0; n < 20; n += 1) expect(fingerprintOf('a', error).fingerprint).toMatch(FINGERPRINT)
    expect(shapeOf(`Invalid \`x.y()\`${blank}→ 1 code${blank}No such row`)).toBe(
      'Invalid `x.y()` No such row',
    )
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
      '(a ',
      '[a=',
      'a (',
      'a:',
      '::1',
      '{"a":[',
      '"\\\\',
      ', a',
      'got a ',
      'E',
      'connectEPIPE ',
      '1 a 2',
      'a/b must ',
      'Aa Bb ',
      '\n→1 ',
      'command failed\n',
      'update a ',
    ]
    for (const piece of pieces) {
      const long = piece.repeat(Math.ceil(1_000_000 / piece.length))
      for (let n = 0; n < 4; n += 1) {
        expect(shapeOf(long).length).toBeLessThanOrEqual(400)
        expect(fingerprintOf('a', long).fingerprint).toMatch(FINGERPRINT)
      }
    }
  })
})

test.each([
  ['short', 'no 7', 5_001],
  ['long', `the partner refused ${'order '.repeat(300)}7`, 1],
])('a %s error has the same group after others', (_, error, others) => {
  const first = fingerprintOf('charge', error)
  for (let n = 0; n < others; n += 1) fingerprintOf('charge', `no ${n + 8}`)
  expect(fingerprintOf('charge', error)).toEqual(first)
  expect(fingerprintOf('refund', error).fingerprint).not.toBe(first.fingerprint)
})

test('the errors that one report reads are remembered until the next', () => {
  const errors = Array.from({ length: 11_500 }, (_, n) => `Error: order ${n} was refused`)
  const first = errors.map((error) => fingerprintOf('a', error))
  expect(errors.filter((error, n) => fingerprintOf('a', error) !== first[n])).toEqual([])
})
