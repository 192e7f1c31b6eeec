/** Tests the verdict of the chaos scene `steps`: it finds each violation in otherwise good records. */
import { expect, test } from 'vitest'
import type { StepLine } from '../../proof/chaos/steps/kinds.ts'
import { type StepObservations, stepsBroken } from '../../proof/chaos/steps/verdict.ts'

let at = 0
const line = (what: StepLine['what'], token: number, step: string, value?: string | number): StepLine => ({
  what,
  job: 'a',
  token,
  step,
  at: (at += 1),
  ...(value !== undefined && { value }),
})
const steps = (list: Readonly<Record<string, unknown>>, job = 'a') =>
  [job, new Map(Object.entries(list))] as const
const event = (n: number, job = 'a') => ({ job, n, isAcknowledged: true })

const GOOD: StepObservations = {
  lines: [
    line('ran', 1, 'step 1'),
    line('ran', 2, 'step 1'),
    line('saw', 2, 'step 1', 'x'),
    line('saw', 3, 'step 1', 'x'),
    line('waits', 3, 'wait 1'),
    line('saw', 3, 'wait 1', 0),
  ],
  recorded: new Map([steps({ 'step 1': 'x', 'wait 1': 0 }), steps({ 'wait 1': 1 }, 'b')]),
  sent: [event(0), event(1, 'b')],
}
const rulesOf = (more: Partial<StepObservations>): string[] =>
  stepsBroken({ ...GOOD, ...more }).map((sentence) => sentence.split(':')[0] ?? '')

test('accepts steps that ran again before they were recorded, or in an attempt without its lease', () => {
  expect(rulesOf({})).toEqual([])
  expect(rulesOf({ lines: [...GOOD.lines, line('ran', 1, 'step 1')] })).toEqual([])
})

test('P17 finds a recorded step that ran again, and a result that was not recorded', () => {
  expect(rulesOf({ lines: [...GOOD.lines, line('ran', 3, 'step 1')] })).toEqual(['step repeated'])
  expect(rulesOf({ lines: [...GOOD.lines, line('saw', 3, 'step 1', 'y')] })).toEqual(['step result'])
  expect(rulesOf({ lines: [...GOOD.lines, line('saw', 3, 'step 2', 'x')] })).toEqual(['step result'])
})

test('P18 finds events that were lost, received twice, or received by another job', () => {
  expect(rulesOf({ sent: [...GOOD.sent, event(2)] })).toEqual(['event lost'])
  expect(rulesOf({ sent: [...GOOD.sent, { ...event(2), isAcknowledged: false }] })).toEqual([])
  const twice = new Map([steps({ 'step 1': 'x', 'wait 1': 0, 'wait 2': 0 }), steps({ 'wait 1': 1 }, 'b')])
  expect(rulesOf({ recorded: twice })).toEqual(['event twice'])
  expect(rulesOf({ sent: [event(0), event(1)] })).toEqual(['event twice'])
})
