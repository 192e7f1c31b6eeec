/** Texts and numbers that users write: refused by an error of ours or understood, and soon. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { durationMs, durationOrForever, instantAt, timeoutMs } from '../../src/job/duration.ts'
import { checkId, checkKey, checkName } from '../../src/job/names.ts'
import { checkTiming, checkWhen } from '../../src/job/when/check-timing.ts'
import { describeWhen } from '../../src/job/when/describe-when.ts'
import { nextRuns } from '../../src/job/when/instants.ts'
import { checkZone } from '../../src/job/when/zone-clock.ts'
import { brokenBy, faultOf, faultsOf, TEXTS, WHENS } from './corpus.ts'

const CHECKS: readonly (readonly [string, (value: unknown) => unknown])[] = [
  ['a duration', (value) => durationMs(value, 'x')],
  ['a duration without end', (value) => durationOrForever(value, 'x')],
  ['a timeout', (value) => timeoutMs(value, 'x')],
  ['an instant', (value) => instantAt(value, 'x')],
  ['a name', (value) => checkName(value, 'x')],
  ['a key', (value) => checkKey(value, 'x')],
  ['an id', (value) => checkId(value, 'x')],
  ['a time zone', (value) => checkZone(value, 'x')],
  ['a schedule', (value) => checkWhen(value, 'x')],
]

const anyText = fc.string({ unit: 'binary', maxLength: 200 })
const cronText = fc.string({
  unit: fc.constantFrom(...'0123456789*/,-?LW# @'.split(''), 'MON', 'JAN', 'every', '1s'),
  maxLength: 40,
})

/** Checked, and then used as the schedule of a year. */
function used(when: string, zone = 'UTC'): unknown {
  const timing = { when: checkWhen(when, 'when'), zone, startAt: null, endAt: null }
  checkTiming(timing, 'timing')
  describeWhen(when, zone)
  return nextRuns(timing, { from: Date.UTC(2028, 1, 28), count: 5, createdAt: 0 })
}

const isFine = (when: string, zone: string): boolean =>
  faultOf(() => used(when, zone), Array.isArray) === null

describe('hostile texts', () => {
  test.each(CHECKS)('as %s are refused in our words, or understood', (_, check) => {
    expect(faultsOf([...TEXTS, ...WHENS], check)).toEqual([])
  })

  test.each(CHECKS)('whatever it is, as %s', (_, check) => {
    const anything = fc.oneof(anyText, fc.anything(), fc.double(), fc.bigInt())
    expect(brokenBy(fc.property(anything, (value) => faultOf(() => check(value)) === null))).toBeNull()
  })

  test('as schedules never hang', () => {
    expect(faultsOf([...WHENS, ...TEXTS], (when) => used(when))).toEqual([])
  })

  test('drawn schedules never hang, in any zone', () => {
    const zones = fc.constantFrom(
      'UTC',
      'Europe/Berlin',
      'America/St_Johns',
      'Pacific/Apia',
      'Antarctica/Troll',
    )
    expect(brokenBy(fc.property(fc.oneof(cronText, anyText), zones, isFine))).toBeNull()
  })
})
