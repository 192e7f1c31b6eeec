/** Unknown options are refused, with the nearest name that exists. */
import { describe, expect, test } from 'vitest'
import { checkObjectKeys, nearest } from '../../src/job/options/known-keys.ts'
import { refusal } from './support.ts'

const KNOWN = ['queue', 'priority', 'maxAttempts']

test('known keys pass, and so does an empty object', () => {
  expect(() => checkObjectKeys({ queue: 1, maxAttempts: undefined }, 'job', KNOWN)).not.toThrow()
  expect(() => checkObjectKeys({}, 'job', KNOWN)).not.toThrow()
})

test('a typo is refused with the nearest name', () => {
  const error = refusal(() => checkObjectKeys({ pirority: 1 }, 'job', KNOWN))
  expect(error.code).toBe('OPTION_UNKNOWN')
  expect(error.message).toBe('job.pirority: is not an option (got "pirority"). Did you mean "priority"?')
})

test('a name from other libraries is refused with our name for it', () => {
  expect(refusal(() => checkObjectKeys({ retries: 3 }, 'job', [...KNOWN, 'retryIf'])).message).toContain(
    'Did you mean "maxAttempts"?',
  )
  expect(refusal(() => checkObjectKeys({ retries: 3 }, 'job', ['retryIf'])).message).toContain('"retryIf"')
})

test('a name unlike any other is refused with the list of all names', () => {
  expect(refusal(() => checkObjectKeys({ colour: 1 }, 'job', KNOWN)).message).toBe(
    'job.colour: is not an option (got "colour"). Use one of: queue, priority, maxAttempts.',
  )
})

test('an unknown option is refused even if it is undefined', () => {
  expect(refusal(() => checkObjectKeys({ colour: undefined }, 'job', KNOWN)).code).toBe('OPTION_UNKNOWN')
})

test('the error does not show the value of an unknown option, which may be a secret', () => {
  expect(refusal(() => checkObjectKeys({ pasword: 'hunter2' }, '', ['password'])).message).not.toContain(
    'hunter2',
  )
})

test('at the top level the path is the key alone, and an odd key is quoted and shortened', () => {
  expect(refusal(() => checkObjectKeys({ colour: 1 }, '', KNOWN)).field).toBe('colour')
  expect(refusal(() => checkObjectKeys({ ' queue': 1 }, 'job', KNOWN)).field).toBe('job[" queue"]')
  expect(
    refusal(() => checkObjectKeys({ ['q'.repeat(100_000)]: 1 }, 'job', KNOWN)).message.length,
  ).toBeLessThan(200)
})

test.each([undefined, null, 'queue', 7, [], () => 1])(
  '%o is refused because it is not an object',
  (value) => {
    const error = refusal(() => checkObjectKeys(value, 'job', KNOWN))
    expect(error).toMatchObject({ code: 'OPTION_INVALID', field: 'job' })
    expect(error.message).toMatch(
      /must be an object \(got .+\)\. Pass an object with any of these keys: queue, priority, maxAttempts\.$/,
    )
  },
)

describe('the nearest name', () => {
  test.each<[string, readonly string[], string | undefined]>([
    ['Queue', KNOWN, 'queue'],
    ['queues', KNOWN, 'queue'],
    ['quue', KNOWN, 'queue'],
    ['max_attempts', KNOWN, 'maxAttempts'],
    ['que', KNOWN, 'queue'],
    ['qu', KNOWN, undefined],
    ['', KNOWN, undefined],
    ['queue', [], undefined],
    ['ix', ['id', 'tx'], 'id'],
    ['xy', ['id'], undefined],
  ])('to %j among %j is %j', (name, known, best) => {
    expect(nearest(name, known)).toBe(best)
  })

  test('is one within the distance, even if a shorter name needs as few edits', () => {
    expect(nearest('xyz', ['id', 'xyzabc'])).toBeUndefined()
    expect(nearest('xyza', ['kind', 'xyzabc'])).toBe('xyzabc')
    expect(nearest('ab', ['xy', 'abcd'])).toBe('abcd')
  })
})
