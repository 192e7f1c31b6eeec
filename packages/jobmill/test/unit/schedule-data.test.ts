/** Schedules as data: when two definitions differ, and when their ticks do. */
import { expect, test } from 'vitest'
import {
  isRetimed,
  liveSchedule,
  overlapKey,
  SCHEDULE_KEYS,
  type ScheduleDefinition,
} from '../../src/job/schedule/schedule.ts'
import { resetSchedule, scheduleOverrides } from '../../src/job/schedule/schedule-sources.ts'
import { scopedKey } from '../../src/job/new-job.ts'
import { aDefinition } from '../../../conformance/src/factories.ts'

/** Another value for each part. */
const OTHER: ScheduleDefinition = {
  when: 'every 10m',
  zone: 'Europe/Rome',
  jitterMs: 5,
  startAt: 1,
  endAt: 2,
  missed: 'skip',
  missedWithinMs: 7,
  overlap: 'skip',
  paused: true,
  kind: 'other',
  queue: 'other',
  payload: '{}',
  priority: 9,
  maxAttempts: 2,
  timeoutMs: 3,
  tags: ['t'],
}

test('the effective schedule is the definition in code plus the changes of the operator', () => {
  expect(liveSchedule(aDefinition(), {})).toEqual(aDefinition())
  expect(liveSchedule(aDefinition(), { priority: 9, startAt: null })).toEqual(aDefinition({ priority: 9 }))
  expect(liveSchedule(null, OTHER)).toEqual(OTHER)
  expect(liveSchedule(aDefinition(), OTHER)).toEqual(OTHER)
})

test('SCHEDULE_KEYS lists all keys of a definition', () => {
  expect([...SCHEDULE_KEYS].toSorted()).toEqual(Object.keys(OTHER).toSorted())
})

test.each(SCHEDULE_KEYS.map((key) => [key]))(
  'a change of %s changes the next tick only if it affects timing',
  (key) => {
    const isTiming = ['when', 'zone', 'startAt', 'endAt', 'paused'].includes(key)
    expect(isRetimed(aDefinition(), { ...aDefinition(), [key]: OTHER[key] })).toBe(isTiming)
  },
)

test('the dedupe key of a schedule differs from every key of a user', () => {
  const names = { queue: 'schedule', kind: 'schedule' }
  for (const scope of ['global', 'queue', 'kind'] as const)
    expect(scopedKey(scope, 'daily', names)).not.toBe(overlapKey('daily'))
  expect(overlapKey('daily').split(' ')[0]).toBe('schedule')
})

test('N1 a deletion by an earlier release, with older changes, is one override, and its reset removes all', () => {
  const sources = { code: aDefinition(), operator: { priority: 4 }, stamps: {}, deleted: true }
  expect(scheduleOverrides('daily', sources)).toMatchObject([
    { option: 'deleted', value: true, code: false, by: null, at: null },
  ])
  expect(resetSchedule(sources, null)).toEqual({ operator: {}, stamps: {}, deleted: false })
})
