/** The outcomes of an attempt and their numbers, which are in the rows of every database: pinned. */
import { expect, test } from 'vitest'
import { outcomeCode, outcomeOfCode, OUTCOMES } from '../../src/job/attempt/outcome.ts'

test('the codes of the outcomes never change', () => {
  expect(Object.fromEntries(OUTCOMES.map((outcome) => [outcome, outcomeCode(outcome)]))).toEqual({
    returned: 0,
    failed: 1,
    'timed-out': 2,
    snoozed: 3,
    throttled: 4,
    'failed-permanently': 5,
    cancelled: 6,
    interrupted: 7,
    parked: 8,
  })
})

test('each code maps back to its outcome', () => {
  expect(OUTCOMES.map((outcome) => outcomeOfCode(outcomeCode(outcome)))).toEqual([...OUTCOMES])
})

test.each([-1, 9, 0.5, Number.NaN])('no outcome has the code %d', (code) => {
  expect(() => outcomeOfCode(code)).toThrow(RangeError)
})
