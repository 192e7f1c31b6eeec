/** Durations and instants as users write them. */
import { describe, expect, test } from 'vitest'
import { BOUNDS } from '../../src/job/defaults.ts'
import { durationMs, durationOrForever, instantAt, timeoutMs } from '../../src/job/duration.ts'
import { refusal } from './support.ts'

describe('a duration', () => {
  test.each<[number | string, number]>([
    [0, 0],
    [1, 1],
    [1.5, 2],
    [0.4, 0],
    ['0s', 0],
    ['250ms', 250],
    ['90s', 90_000],
    ['10m', 600_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['1h30m', 5_400_000],
    ['1d2h3m4s5ms', 93_784_005],
    ['1.5h', 5_400_000],
    ['0.5ms', 1],
    [' 5s ', 5_000],
    [BOUNDS.durationMs, BOUNDS.durationMs],
    ['3650d', BOUNDS.durationMs],
  ])('can be %j', (input, ms) => {
    expect(durationMs(input, 'delay')).toBe(ms)
  })

  test.each([
    '',
    ' ',
    '90',
    's',
    '1 h',
    '1h 30m',
    '1H',
    '1w',
    '1y',
    '-5s',
    '+5s',
    '1e3s',
    '.5s',
    '5.s',
    'forever',
    '1hx',
    'x1h',
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    null,
    undefined,
    5n,
    true,
    {},
    new Date(5),
    `${'9'.repeat(400)}d`,
  ])('cannot be %o', (input) => {
    const error = refusal(() => durationMs(input, 'delay'))
    expect(error).toMatchObject({ code: 'DURATION_INVALID', field: 'delay' })
    expect(error.message).toContain('delay: must be a duration (got ')
    expect(error.fix).toBe(
      "Pass milliseconds, or text with the units ms, s, m, h and d, such as '90s', '1h30m' or '7d'",
    )
  })

  test('cannot be negative', () => {
    expect(refusal(() => durationMs(-1, 'delay')).message).toBe(
      'delay: must not be negative (got -1). Pass 0 or more.',
    )
  })

  test.each([0, -1, '0s'])('a timeout cannot be %j', (input) => {
    const error = refusal(() => timeoutMs(input, 'timeout'))
    expect(error).toMatchObject({ code: 'DURATION_INVALID', field: 'timeout' })
    expect(error.message).toContain('timeout: must be longer than 0')
  })

  test.each([BOUNDS.durationMs + 1, '3651d', 1_800_000_000_000])(
    'cannot be longer than ten years: %j',
    (input) => {
      const error = refusal(() => durationMs(input, 'delay'))
      expect(error.code).toBe('DURATION_INVALID')
      expect(error.message).toContain('must not be longer than ten years')
      expect(error.message).toMatch(/Pass at most 3650d; an instant is not a duration\.$/)
    },
  )

  test('is null for "forever", where that is allowed', () => {
    expect(durationOrForever('forever', 'retain.dead')).toBeNull()
    expect(durationOrForever('7d', 'retain.dead')).toBe(604_800_000)
    expect(durationOrForever(0, 'retain.dead')).toBe(0)
    for (const input of ['Forever', null, Number.POSITIVE_INFINITY]) {
      expect(refusal(() => durationOrForever(input, 'retain.dead')).code).toBe('DURATION_INVALID')
    }
  })
})

describe('an instant', () => {
  test.each<[Date | number | string, number]>([
    [0, 0],
    [1.5, 2],
    [new Date(5), 5],
    ['1970-01-01T00:00Z', 0],
    ['1970-01-01T00:00:01Z', 1_000],
    ['1970-01-01T00:00:00.250Z', 250],
    ['1970-01-01T00:00:00.123456Z', 123],
    ['1970-01-01T02:00:00+02:00', 0],
    ['1970-01-01T02:00:00+0200', 0],
    ['1969-12-31T19:00:00-05:00', 0],
    ['2028-02-29T00:00:00Z', 1_835_395_200_000],
    ['2200-01-01T00:00:00Z', BOUNDS.lastInstantAt],
    [BOUNDS.lastInstantAt, BOUNDS.lastInstantAt],
  ])('can be %j', (input, at) => {
    expect(instantAt(input, 'runAt')).toBe(at)
  })

  test.each([
    '2027-01-31',
    '2027-01-31 09:00:00Z',
    '31.1.2027',
    'tomorrow',
    '',
    '0',
    '2027-02-30T00:00:00Z',
    '2027-04-31T09:00+02:00',
    '2027-02-29T00:00Z',
    '2027-13-01T00:00Z',
    '2027-01-00T00:00Z',
    '2027-01-31T25:00Z',
    '2027-01-31T09:60Z',
    '2027-01-31T09:00+99:00',
    Number.NaN,
    new Date(Number.NaN),
    null,
    undefined,
    {},
    5n,
  ])('cannot be %o', (input) => {
    const error = refusal(() => instantAt(input, 'runAt'))
    expect(error).toMatchObject({ code: 'INSTANT_INVALID', field: 'runAt' })
    expect(error.message).toContain('runAt: must be an instant (got ')
    expect(error.fix).toBe("Pass a Date, milliseconds since 1970, or text such as '2027-01-31T09:00:00Z'")
  })

  test.each(['2027-01-31T09:00:00', '2027-01-31T09:00', '2027-01-31T09:00:00.123'])(
    'without a time zone is refused with the missing part: %s',
    (input) => {
      expect(refusal(() => instantAt(input, 'runAt'))).toMatchObject({
        code: 'INSTANT_INVALID',
        message: `runAt: has no time zone (got "${input}"). Add Z or an offset such as +01:00.`,
      })
    },
  )

  test.each([
    -1,
    BOUNDS.lastInstantAt + 1,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    '1969-12-31T23:59:59Z',
    '2200-01-01T00:00:01Z',
    new Date(-1),
  ])('cannot be out of bounds: %o', (input) => {
    const error = refusal(() => instantAt(input, 'runAt'))
    expect(error.code).toBe('INSTANT_INVALID')
    expect(error.message).toContain('must be between 1970 and 2199')
  })
})
