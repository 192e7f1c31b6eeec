/** The states of a job and their numbers, which are in the rows of every database: pinned. */
import { expect, test } from 'vitest'
import { isEnded, JOB_STATES, STATE_CODE, stateOfCode } from '../../src/job/state.ts'

test('the codes of the states never change', () => {
  expect(STATE_CODE).toEqual({ scheduled: 0, ready: 1, running: 2, done: 3, dead: 4, cancelled: 5 })
})

test('each code maps back to its state', () => {
  expect(JOB_STATES.map((state) => stateOfCode(STATE_CODE[state]))).toEqual([...JOB_STATES])
  expect(Object.keys(STATE_CODE)).toEqual([...JOB_STATES])
})

test.each([-1, 6, 1.5, Number.NaN])('no state has the code %d', (code) => {
  expect(() => stateOfCode(code)).toThrow(RangeError)
})

test('a job has ended when it is done, dead or cancelled', () => {
  expect(JOB_STATES.filter((state) => isEnded(state))).toEqual(['done', 'dead', 'cancelled'])
})
