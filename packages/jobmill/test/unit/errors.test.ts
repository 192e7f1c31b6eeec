/** The one error class: its message, how it shows a value, and how copies of the package recognize it. */
import { inspect } from 'node:util'
import { describe, expect, test, vi } from 'vitest'
import {
  ERRORS,
  type ErrorCode,
  isDataError,
  isJobmillError,
  JobmillError,
  pathOf,
  quote,
  rephrase,
} from '../../src/job/errors.ts'

const ending = (fix: string): string =>
  new JobmillError('OPTION_UNKNOWN', 'is not an option', { fix }).message

describe('a message', () => {
  test('names the field, what is wrong, the value and the fix', () => {
    const error = new JobmillError('NAME_INVALID', 'has a space', {
      field: 'queue',
      value: '"a b"',
      fix: 'Use a dash',
    })
    expect(error.message).toBe('queue: has a space (got "a b"). Use a dash.')
  })

  test('leaves out unknown parts', () => {
    expect(new JobmillError('STORE_CLOSED', 'the store is not open').message).toBe('the store is not open.')
    expect(new JobmillError('STORE_CLOSED', 'is shut', { value: '1' }).message).toBe('is shut (got 1).')
    expect(new JobmillError('STORE_CLOSED', 'is shut', { field: 'a' }).message).toBe('a: is shut.')
  })

  test('ends with one full stop, whatever its fix ends with', () => {
    expect(ending('Did you mean "queue"?')).toBe('is not an option. Did you mean "queue"?')
    expect(ending('Leave it out.')).toBe('is not an option. Leave it out.')
    expect(ending('Leave it out')).toBe('is not an option. Leave it out.')
  })
})

test('an error carries its details as fields', () => {
  const cause = new Error('below')
  const error = new JobmillError('ID_INVALID', 'x', {
    field: 'jobs[3].id',
    value: '1',
    fix: 'y',
    index: 3,
    cause,
  })
  expect(error).toMatchObject({
    name: 'JobmillError',
    code: 'ID_INVALID',
    field: 'jobs[3].id',
    value: '1',
    fix: 'y',
  })
  expect(error.index).toBe(3)
  expect(error.cause).toBe(cause)
  expect(error).toBeInstanceOf(Error)
})

test('an error without a cause has no such property', () => {
  expect('cause' in new JobmillError('ID_INVALID', 'x')).toBe(false)
})

test('an error has no property for a missing detail, so none is printed as undefined', () => {
  const error = new JobmillError('ID_INVALID', 'x', { field: 'id' })
  expect(Object.keys(error).toSorted()).toEqual(['code', 'field', 'name'])
  expect(inspect(error)).not.toContain('undefined')
  const rephrased = rephrase(error, { field: () => '--id' })
  expect(rephrased.message).toBe('--id: x.')
  expect(inspect(rephrased)).not.toContain('undefined')
})

test('exactly the temporary errors are retryable', () => {
  const codes = Object.keys(ERRORS) as ErrorCode[]
  const retryable = codes.filter((code) => new JobmillError(code, 'x').retryable)
  expect(retryable).toEqual(['OUTCOME_UNKNOWN', 'OVERLOADED', 'STORE_BUSY', 'STORE_UNAVAILABLE', 'TX_STALE'])
})

test('D low the input is at fault for no error about the state of the mill, the schema or the database', () => {
  const codes = Object.keys(ERRORS) as ErrorCode[]
  const others = codes.filter((code) => !isDataError(new JobmillError(code, 'x')))
  expect(others).toEqual([
    'MILL_NOT_STARTED',
    'MILL_STOPPED',
    'OUTCOME_UNKNOWN',
    'OVERLOADED',
    'SCHEMA_CHANGED',
    'SCHEMA_NEWER',
    'SCHEMA_OUTDATED',
    'STORE_BUSY',
    'STORE_CLOSED',
    'STORE_REFUSED',
    'STORE_UNAVAILABLE',
    'STORE_UNSUPPORTED',
    'TX_STALE',
  ])
})

test('the codes are in alphabetical order, and each has a sentence without a full stop', () => {
  const codes = Object.keys(ERRORS)
  expect(codes).toEqual(codes.toSorted())
  for (const sentence of Object.values(ERRORS)) expect(sentence).toMatch(/^[A-Z].*[^.]$/)
})

describe('the brand', () => {
  test('is recognized across two copies of the package', async () => {
    vi.resetModules()
    const copy = await import('../../src/job/errors.ts')
    const foreign: unknown = new copy.JobmillError('STORE_BUSY', 'x')
    expect(foreign).not.toBeInstanceOf(JobmillError)
    expect(isJobmillError(foreign)).toBe(true)
    expect(copy.isJobmillError(new JobmillError('STORE_BUSY', 'x'))).toBe(true)
  })

  test('does not appear in printed errors or JSON', () => {
    const error = new JobmillError('STORE_BUSY', 'x')
    expect(Object.getOwnPropertySymbols(error).some((key) => Object.keys(error).includes(String(key)))).toBe(
      false,
    )
    expect(Object.getOwnPropertyDescriptor(error, Symbol.for('jobmill.error'))?.enumerable).toBe(false)
  })

  test.each([null, undefined, 'STORE_BUSY', 1, {}, new Error('x'), { code: 'STORE_BUSY' }])(
    'is not on %o',
    (value) => {
      expect(isJobmillError(value)).toBe(false)
    },
  )
})

describe('a message shows a value', () => {
  test.each<[unknown, string]>([
    ['a "b"', String.raw`"a \"b\""`],
    ['', '""'],
    ['a\u0000b', String.raw`"a\u0000b"`],
    [1.5, '1.5'],
    [Number.NaN, 'NaN'],
    [-0, '0'],
    [10n, '10n'],
    [true, 'true'],
    [null, 'null'],
    [undefined, 'undefined'],
    [Symbol('s'), 'Symbol(s)'],
    [() => 1, 'a function'],
    [Date, 'a function'],
    [[1], 'an array of 1 item'],
    [[1, 2, 3], 'an array of 3 items'],
    [new Date(0), '1970-01-01T00:00:00.000Z'],
    [new Date(Number.NaN), 'an invalid Date'],
    [{}, 'an object with no keys'],
    [{ a: 1, b: 2 }, 'an object with the keys "a", "b"'],
    [{ a: 1, b: 1, c: 1, d: 1, e: 1, f: 1 }, 'an object with the keys "a", "b", "c", "d", "e", …'],
    [Object.create(null), 'an object with no keys'],
    [new Map([['a', 1]]), 'a Map'],
    [new Set([1]), 'a Set'],
    [Promise.resolve(1), 'a Promise'],
  ])('%# as %2$s', (value, text) => {
    expect(quote(value)).toBe(text)
  })

  test('whole up to 40 characters, and cut beyond', () => {
    expect(quote('x'.repeat(40))).toBe(`"${'x'.repeat(40)}"`)
    expect(quote('x'.repeat(41))).toBe(`"${'x'.repeat(40)}…"`)
    expect(quote('x'.repeat(1_000_000))).toBe(`"${'x'.repeat(40)}…"`)
  })

  test('with a surrogate pair counted as one character and never split', () => {
    expect(quote('😀'.repeat(40))).toBe(`"${'😀'.repeat(40)}"`)
    expect(quote('😀'.repeat(41))).toBe(`"${'😀'.repeat(40)}…"`)
    expect(quote(`a${'😀'.repeat(100)}`)).toBe(`"a${'😀'.repeat(39)}…"`)
  })

  test('as well-formed text even if the value is not', () => {
    expect(quote('a\ud800b')).toBe('"a\ufffdb"')
  })

  test('shortened if it is a huge BigInt, or has a long key or description', () => {
    expect(quote(10n ** 1_000n)).toBe(`1${'0'.repeat(39)}…`)
    expect(quote(Symbol('x'.repeat(1_000)))).toHaveLength(41)
    expect(quote({ ['k'.repeat(1_000)]: 1 })).toBe(`an object with the keys "${'k'.repeat(40)}…"`)
  })
})

describe('a path', () => {
  test.each([
    ['payload', 'user', 'payload.user'],
    ['', 'user', 'user'],
    ['payload', 'content-type', 'payload.content-type'],
    ['payload', 'a b', 'payload["a b"]'],
    ['payload', 'a.b', 'payload["a.b"]'],
    ['payload', '', 'payload[""]'],
    ['payload', 'a\u0000', String.raw`payload["a\u0000"]`],
    ['payload', 'k'.repeat(41), `payload["${'k'.repeat(40)}…"]`],
  ])('from %j to %j is %j', (parent, key, path) => {
    expect(pathOf(parent, key)).toBe(path)
  })
})
