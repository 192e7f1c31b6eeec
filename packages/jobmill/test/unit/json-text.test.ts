/**
 * Values as JSON text: kept without loss, or refused with the path of the part that JSON cannot represent.
 */
import { runInNewContext } from 'node:vm'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyCharacter } from '../../../../test/support/any-character.ts'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { BOUNDS } from '../../src/job/defaults.ts'
import { isJobmillError } from '../../src/job/errors.ts'
import { jsonText } from '../../src/job/text/json-text.ts'
import { refusal } from './support.ts'

const LIMIT = 1_000_000
const text = (value: unknown): string => jsonText(value, 'payload', LIMIT)

function nested(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level += 1) value = [value]
  return value
}

describe('values that JSON can represent are kept', () => {
  class Point {
    x = 1
    y = 2
  }
  const twice = { a: 1 }
  test.each<[string, unknown, string]>([
    ['null', null, 'null'],
    ['a text', 'ä😀\u2028', '"ä😀\u2028"'],
    ['a number', -1.5e300, '-1.5e+300'],
    ['a boolean', false, 'false'],
    ['an empty object', {}, '{}'],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
    ['an instance of a class', new Point(), '{"x":1,"y":2}'],
    ['a date', new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ['what toJSON returns', { a: { toJSON: () => [1] } }, '{"a":[1]}'],
    ['what toJSON returns for its key', { a: { toJSON: (key: string) => key } }, '{"a":"a"}'],
    ['an address', new URL('https://example.com/'), '"https://example.com/"'],
    ['the same object twice', { one: twice, two: [twice, twice] }, '{"one":{"a":1},"two":[{"a":1},{"a":1}]}'],
    ['an object from another realm', runInNewContext('({ a: [1, {}] })'), '{"a":[1,{}]}'],
    ['a key that looks like a prototype', JSON.parse('{"__proto__":1}'), '{"__proto__":1}'],
    ['an empty key', { '': 1 }, '{"":1}'],
    ['what looks like an escape', { path: 'C:\\users\\u0000' }, '{"path":"C:\\\\users\\\\u0000"}'],
    ['a control character that can be stored', '\u0001', String.raw`"\u0001"`],
  ])('%s', (_what, value, expected) => {
    expect(text(value)).toBe(expected)
  })

  test('an object whose toJSON returns the object itself', () => {
    const value = {
      a: 1,
      toJSON() {
        return this
      },
    }
    // JSON has no functions, so the method is hidden here, as on a class.
    Object.defineProperty(value, 'toJSON', { enumerable: false })
    expect(text({ value })).toBe('{"value":{"a":1}}')
  })

  test('a property with the value undefined is dropped, as if absent', () => {
    expect(text({ a: undefined, b: { c: undefined }, d: 1 })).toBe('{"b":{},"d":1}')
  })
})

describe('values that JSON would lose are refused, with their path', () => {
  const cycle: { a: { b: unknown[] } } = { a: { b: [] } }
  cycle.a.b.push(1, cycle)
  // A search through all paths would never end.
  const manyWays: { ways: unknown }[] = []
  manyWays.push(...Array.from({ length: 1_000 }, () => ({ ways: [manyWays, manyWays] })))
  const self: unknown[] = []
  self.push(self)
  test.each<[string, unknown, string, string]>([
    ['undefined', undefined, 'payload', 'JSON has no undefined'],
    ['an undefined in an array', { a: [1, undefined] }, 'payload.a[1]', 'JSON has no undefined'],
    // oxlint-disable-next-line no-sparse-arrays -- the hole is what this is about
    ['a hole in an array', { a: [1, , 3] }, 'payload.a[1]', 'JSON has no undefined'],
    [
      'an array that is only long',
      { a: Array.from({ length: 1 }).concat(Array(2)) },
      'payload.a[0]',
      'JSON has no',
    ],
    ['NaN', { a: { b: Number.NaN } }, 'payload.a.b', 'JSON has no NaN or Infinity'],
    ['Infinity', [[Number.NEGATIVE_INFINITY]], 'payload[0][0]', 'JSON has no NaN or Infinity'],
    ['a BigInt', { id: 5n }, 'payload.id', 'JSON has no BigInt'],
    ['a function', { a: () => 1 }, 'payload.a', 'JSON has no function'],
    ['a symbol', { a: Symbol('s') }, 'payload.a', 'JSON has no symbol'],
    ['an invalid date', { at: new Date(Number.NaN) }, 'payload.at', 'must be a valid date'],
    ['NUL in a text', { a: ['x\u0000'] }, 'payload.a[0]', 'has a NUL character'],
    ['NUL in a key', { 'x\u0000': 1 }, String.raw`payload["x\u0000"]`, 'has a NUL character'],
    [
      'half a pair in a text',
      { a: 'x\ud83d' },
      'payload.a',
      'has a lone surrogate, which is not valid Unicode',
    ],
    ['the other half', 'x\ude00', 'payload', 'has a lone surrogate, which is not valid Unicode'],
    [
      'half a pair in a key',
      { 'x\ud83d': 1 },
      'payload["x\ufffd"]',
      'has a lone surrogate, which is not valid Unicode',
    ],
    ['a cycle', cycle, 'payload.a.b[1]', 'is a circular reference'],
    ['an array in itself', self, 'payload[0]', 'is a circular reference'],
    ['a cycle by many ways', manyWays, 'payload[0].ways[0]', 'is a circular reference'],
    ['a map', { a: new Map([[1, 2]]) }, 'payload.a', 'JSON would lose the content of this Map'],
    ['an empty map', new Map(), 'payload', 'JSON would lose the content of this Map'],
    ['a set', [new Set([1])], 'payload[0]', 'JSON would lose the content of this Set'],
    [
      'a map from another realm',
      runInNewContext('new Map()'),
      'payload',
      'JSON would lose the content of this Map',
    ],
    ['a typed array', new Uint8Array(2), 'payload', 'JSON would lose the content of this Uint8Array'],
    ['a view', new DataView(new ArrayBuffer(1)), 'payload', 'JSON would lose the content of this DataView'],
    ['a buffer of memory', new ArrayBuffer(1), 'payload', 'JSON would lose the content of this ArrayBuffer'],
    ['an error', { error: new TypeError('x') }, 'payload.error', 'JSON would lose the content of this Error'],
    ['a pattern', /x/, 'payload', 'JSON would lose the content of this RegExp'],
    ['a boxed number', Object(Number.NaN), 'payload', 'JSON would lose the content of this Number'],
    ['a boxed text', Object('x'), 'payload', 'JSON would lose the content of this String'],
    ['a boxed BigInt', Object(1n), 'payload', 'JSON would lose the content of this BigInt'],
    [
      'search parameters',
      new URLSearchParams('a=1'),
      'payload',
      'JSON would lose the content of this URLSearchParams',
    ],
    ['a promise', { a: Promise.resolve(1) }, 'payload.a', 'is a promise'],
    [
      'a toJSON that returns undefined',
      { a: { toJSON: () => undefined } },
      'payload.a',
      'JSON has no undefined',
    ],
    ['a toJSON that returns NaN', { a: { toJSON: () => Number.NaN } }, 'payload.a', 'JSON has no NaN'],
    [
      'a toJSON that returns a bad part',
      { a: { toJSON: () => ({ b: 1n }) } },
      'payload.a.b',
      'JSON has no BigInt',
    ],
    // JSON.stringify would write {}: it does not call toJSON on the result of toJSON.
    [
      'a toJSON that returns a date',
      { a: { toJSON: () => new Date(0) } },
      'payload.a',
      'lose the content of this Date',
    ],
    ['a key with a space', { 'a b': { c: undefined, d: 1n } }, 'payload["a b"].d', 'JSON has no BigInt'],
    [
      'what is nested too deep',
      nested(BOUNDS.jsonDepth + 1),
      `payload${'[0]'.repeat(BOUNDS.jsonDepth)}`,
      'is nested',
    ],
    [
      'what is nested far too deep',
      nested(200_000),
      `payload${'[0]'.repeat(BOUNDS.jsonDepth)}`,
      'is nested more than',
    ],
  ])('%s', (_what, value, path, why) => {
    const error = refusal(() => text(value))
    expect(error).toMatchObject({ code: 'PAYLOAD_NOT_JSON', field: path })
    expect(error.message.slice(path.length)).toContain(why)
    expect(error.value).toBeDefined()
    expect(error.fix).toBeDefined()
  })

  test('a getter or toJSON that throws, with the thrown value as the cause', () => {
    const cause = new Error('not now')
    const thrower = (): never => {
      throw cause
    }
    for (const value of [
      { a: { toJSON: thrower } },
      Object.defineProperty({}, 'a', { get: thrower, enumerable: true }),
    ]) {
      const error = refusal(() => text(value))
      expect(error).toMatchObject({ code: 'PAYLOAD_NOT_JSON', field: 'payload', cause })
    }
  })

  test('nesting is allowed up to the bound', () => {
    expect(text(nested(BOUNDS.jsonDepth))).toHaveLength(2 * BOUNDS.jsonDepth + 1)
  })

  test('the message shows the value and the fix', () => {
    expect(refusal(() => text({ user: { id: 5n } })).message).toBe(
      'payload.user.id: JSON has no BigInt (got 5n). Use a number, or a string.',
    )
  })
})

describe('the size limit', () => {
  test('counts bytes of the text, not characters', () => {
    expect(jsonText('éé', 'payload', 6)).toBe('"éé"')
    const error = refusal(() => jsonText('éé', 'payload', 5))
    expect(error).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', field: 'payload', value: '6 bytes' })
    expect(error.message).toBe(
      'payload: exceeds 5 bytes as JSON (got 6 bytes). ' +
        'Store the data elsewhere and pass a reference, or raise payloadLimitBytes.',
    )
  })

  test('counts the written text: escapes count, dropped properties do not', () => {
    expect(jsonText({ a: undefined }, 'payload', 2)).toBe('{}')
    expect(refusal(() => jsonText('\n', 'payload', 3)).value).toBe('4 bytes')
  })
})

function attempt(value: unknown): { readonly written?: string; readonly code: string } {
  try {
    return { written: text(value), code: 'accepted' }
  } catch (error) {
    return { code: isJobmillError(error) ? error.code : String(error) }
  }
}

describe('for any value', () => {
  test('that is JSON, the text parses back to the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(!JSON.stringify(value).includes(String.raw`\u0000`))
        expect(JSON.parse(text(value))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  test('that is JSON with any storable characters, the text equals JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: anyCharacter }), (value) => {
        const written = JSON.stringify(value)
        fc.pre(!written.includes(String.raw`\u0000`))
        expect(text(value)).toBe(written)
      }),
      { numRuns: inFull(1_000, 100) },
    )
  })

  test('that is accepted, the text equals JSON.stringify and loses nothing', () => {
    const anything = fc.anything({
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withObjectString: true,
      withSet: true,
      withSparseArray: true,
      withTypedArray: true,
    })
    fc.assert(
      fc.property(anything, (value) => {
        const { written, code } = attempt(value)
        expect(code).toMatch(/^(accepted|PAYLOAD_NOT_JSON)$/)
        if (written === undefined) return
        expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(value)))
        expect(count(JSON.parse(written))).toBe(count(value))
      }),
      { numRuns: inFull(1_000, 60) },
    )
  })
})

/** The number of values inside a value, without undefined properties: a loss would change it. */
function count(value: unknown): number {
  if (typeof value !== 'object' || value === null || value instanceof Date) return 1
  const parts = Object.values(value).filter((part) => part !== undefined)
  return parts.reduce<number>((sum, part) => sum + count(part), 1)
}
