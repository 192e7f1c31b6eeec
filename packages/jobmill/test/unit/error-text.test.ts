/** Errors as stored text: causes, strange values, and cuts that keep the first line and the root cause. */
import { runInNewContext } from 'node:vm'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyCharacter } from '../../../../test/support/any-character.ts'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { DEFAULTS } from '../../src/job/defaults.ts'
import { errorText } from '../../src/job/text/error-text.ts'

function chainOf(messages: readonly string[]): Error {
  const [first = '', ...rest] = messages
  return rest.length === 0 ? new Error(first) : new Error(first, { cause: chainOf(rest) })
}

describe('the text of an error', () => {
  test('has its name and message', () => {
    expect(errorText(new TypeError('no such thing'))).toBe('TypeError: no such thing')
  })

  test('without a message has its name', () => {
    expect(errorText(new RangeError())).toBe('RangeError')
  })

  test('from another realm has its name and message too', () => {
    expect(errorText(runInNewContext(`new TypeError('far', { cause: new Error('away') })`))).toBe(
      'TypeError: far\n  caused by: Error: away',
    )
  })

  test('has the causes below it', () => {
    expect(errorText(chainOf(['a', 'b', 'c']))).toBe('Error: a\n  caused by: Error: b\n  caused by: Error: c')
  })

  test('can have a cause that is not an Error', () => {
    expect(errorText(new Error('a', { cause: 'b' }))).toBe('Error: a\n  caused by: b')
    expect(errorText(new Error('a', { cause: { code: 5 } }))).toBe('Error: a\n  caused by: {"code":5}')
  })

  test('has no cause if the cause is empty', () => {
    expect(errorText(new Error('a', { cause: undefined }))).toBe('Error: a')
    expect(errorText(new Error('a', { cause: null }))).toBe('Error: a')
  })

  test('shows an error that is its own cause, at any distance, only once', () => {
    const a = new Error('a')
    const b = new Error('b', { cause: a })
    a.cause = b
    expect(errorText(a)).toBe('Error: a\n  caused by: Error: b')
    a.cause = a
    expect(errorText(a)).toBe('Error: a')
  })

  test('keeps the root cause of a long chain', () => {
    const lines = errorText(chainOf(Array.from({ length: 30 }, (_, at) => `e${at}`))).split('\n')
    expect(lines).toHaveLength(11)
    expect(lines.slice(0, 2)).toEqual(['Error: e0', '  caused by: Error: e1'])
    expect(lines.slice(-3)).toEqual(['  caused by: Error: e8', '  … 20 more …', '  caused by: Error: e29'])
  })

  test('ends although the causes never end', () => {
    class Endless extends Error {
      override get cause(): Error {
        return new Endless('again')
      }
    }
    expect(errorText(new Endless('first')).split('\n')).toHaveLength(11)
  })
})

describe('the text of an AggregateError', () => {
  test('lists its errors', () => {
    expect(errorText(new AggregateError([new Error('a'), 'b'], 'all failed'))).toBe(
      'AggregateError: all failed [Error: a; b]',
    )
    expect(errorText(new AggregateError([], 'none'))).toBe('AggregateError: none')
  })

  test('ends although the error contains itself', () => {
    const a = new AggregateError([], 'a')
    const b = new AggregateError([a, new Error('x')], 'b')
    a.errors.push(b, a)
    expect(errorText(a)).toBe('AggregateError: a [AggregateError: b […; Error: x]; …]')
  })

  test('lists the first ten errors and the number of the others', () => {
    const errors = Array.from({ length: 100_000 }, (_, at) => `e${at}`)
    expect(errorText(new AggregateError(errors, 'all'))).toMatch(
      /^AggregateError: all \[e0; .*; e9; … 99990 more\]$/,
    )
  })
})

describe('the text of a thrown value that is not an Error', () => {
  test.each<[unknown, string]>([
    ['text', 'text'],
    ['', ''],
    [undefined, 'undefined'],
    [null, 'null'],
    [42, '42'],
    [5n, '5'],
    [true, 'true'],
    [Symbol('s'), 'Symbol(s)'],
    [{ code: 'E', n: [1] }, '{"code":"E","n":[1]}'],
    [{ toJSON: () => undefined }, 'undefined'],
  ])('%# is %2$s', (thrown, text) => {
    expect(errorText(thrown)).toBe(text)
  })

  test('exists even if the value cannot be read', () => {
    const circle: { self?: unknown } = {}
    circle.self = circle
    const gone = Proxy.revocable({}, {})
    gone.revoke()
    for (const thrown of [circle, gone.proxy, { n: 1n }]) {
      expect(errorText(thrown)).toBe('unreadable error')
    }
  })

  test('an error with a broken message still has a text', () => {
    const odd = Object.assign(new Error('x'), { message: Symbol('odd') })
    expect(errorText(odd)).toBe('Error: Symbol(odd)')
    const hostile = Object.defineProperty(new Error('x'), 'message', {
      get() {
        throw new Error('no')
      },
    })
    expect(errorText(hostile)).toBe('unreadable error')
  })
})

test('characters that a database refuses are replaced', () => {
  expect(errorText(new Error('a\u0000b\ud800c'))).toBe('Error: a\ufffdb\ufffdc')
})

describe('a text that is cut', () => {
  test('has 4,096 characters', () => {
    expect(DEFAULTS.errorLimitChars).toBe(4_096)
    expect(errorText('x'.repeat(4_096))).toBe('x'.repeat(4_096))
    expect(errorText('x'.repeat(4_097))).toBe(`${'x'.repeat(4_095)}…`)
  })

  test('never splits a surrogate pair', () => {
    expect(errorText(`${'x'.repeat(8)}😀y`, 10)).toBe(`${'x'.repeat(8)}…`)
    expect(errorText(`${'x'.repeat(7)}😀yz`, 10)).toBe(`${'x'.repeat(7)}😀…`)
  })

  test('keeps the first line and the root cause if the middle is long', () => {
    const text = errorText(chainOf(['first', 'm'.repeat(10_000), 'the root']))
    expect(text).toHaveLength(4_096)
    expect(text.startsWith('Error: first\n  caused by: Error: mmm')).toBe(true)
    expect(text.endsWith('mmm…\n  caused by: Error: the root')).toBe(true)
  })

  test('gives the root cause the space that is left, and shows its start once', () => {
    const text = errorText(chainOf(['first', `root ${'r'.repeat(10_000)}`]))
    expect(text).toHaveLength(4_096)
    expect(text.startsWith('Error: first\n  caused by: Error: root rrr')).toBe(true)
    expect(text.split('caused by')).toHaveLength(2)
  })

  test('gives half to each if both are long', () => {
    const text = errorText(chainOf(['a'.repeat(10_000), 'z'.repeat(10_000)]), 100)
    const [first = '', root = ''] = text.split('\n')
    expect(text).toHaveLength(100)
    expect(first).toMatch(/^Error: a+…$/)
    expect(root).toMatch(/^ {2}caused by: Error: z+…$/)
  })

  test('is never above the limit, always well-formed and without NUL, for any thrown value', () => {
    const thrown = fc.oneof(
      fc.anything(),
      fc
        .array(fc.string({ unit: anyCharacter, maxLength: 60 }), { minLength: 1, maxLength: 14 })
        .map(chainOf),
      fc.array(fc.anything()).map((errors) => new AggregateError(errors, 'all')),
    )
    fc.assert(
      fc.property(thrown, fc.nat({ max: 200 }), (error, limit) => {
        const text = errorText(error, limit)
        expect(text.length).toBeLessThanOrEqual(limit)
        expect(text.isWellFormed()).toBe(true)
        expect(text).not.toContain('\u0000')
      }),
      { numRuns: inFull(1_000, 60) },
    )
  })
})
