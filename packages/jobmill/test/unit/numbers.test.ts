/** Whole numbers within bounds, and booleans: refused when they are not, never clamped or converted. */
import { expect, test } from 'vitest'
import { checkBoolean, checkWhole } from '../../src/job/numbers.ts'
import { refusal } from './support.ts'

const BOUNDS = { least: -2, most: 3 }

test.each([-2, -1, 0, 1, 2, 3])('%i is within bounds', (value) => {
  expect(checkWhole(value, 'n', BOUNDS)).toBe(value)
})

test.each([-3, 4, 1e300])('%d is refused as out of bounds', (value) => {
  expect(refusal(() => checkWhole(value, 'n', BOUNDS)).message).toBe(
    `n: is out of bounds (got ${value}). Pass a whole number from -2 to 3.`,
  )
})

test.each([0.5, Number.NaN, Number.POSITIVE_INFINITY, '1', 1n, null, undefined, true, {}])(
  '%o is refused because it is not an integer',
  (value) => {
    const error = refusal(() => checkWhole(value, 'n', BOUNDS))
    expect(error).toMatchObject({
      code: 'NUMBER_INVALID',
      field: 'n',
      fix: 'Pass a whole number from -2 to 3',
    })
    expect(error.message).toContain('must be a whole number')
  },
)

test('true and false are booleans', () => {
  expect(checkBoolean(true, 'b')).toBe(true)
  expect(checkBoolean(false, 'b')).toBe(false)
})

test.each(['true', 0, 1, null, undefined])('%o is refused because it is not a boolean', (value) => {
  expect(refusal(() => checkBoolean(value, 'paused'))).toMatchObject({
    code: 'OPTION_INVALID',
    field: 'paused',
  })
})

test('the error for a boolean is readable', () => {
  expect(refusal(() => checkBoolean('true', 'paused')).message).toBe(
    'paused: must be true or false (got "true"). Pass true or false, without quotes.',
  )
})
