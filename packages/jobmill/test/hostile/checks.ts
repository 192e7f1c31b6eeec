/** Every check of a text from users, and the resulting values. */
import { durationMs, durationOrForever, instantAt, timeoutMs } from '../../src/job/duration.ts'
import { checkId, checkKey, checkName } from '../../src/job/names.ts'
import { checkTiming, checkWhen } from '../../src/job/when/check-timing.ts'
import { describeWhen } from '../../src/job/when/describe-when.ts'
import { nextRuns } from '../../src/job/when/instants.ts'
import { checkZone } from '../../src/job/when/zone-clock.ts'

export const CHECKS: readonly (readonly [string, (value: unknown) => unknown])[] = [
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

/** Checked, and then used as the schedule of a year. */
export function used(when: string, zone = 'UTC'): unknown {
  const timing = { when: checkWhen(when, 'when'), zone, startAt: null, endAt: null }
  checkTiming(timing, 'timing')
  describeWhen(when, zone)
  return nextRuns(timing, { from: Date.UTC(2028, 1, 28), count: 5, createdAt: 0 })
}
