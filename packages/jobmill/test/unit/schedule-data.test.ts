/** Schedules as data: when two definitions differ, and when their ticks do. */
import { expect, test } from 'vitest'
import {
  isRetimed,
  overlapKey,
  SCHEDULE_KEYS,
  type ScheduleDefinition,
  type SchedulePatch,
} from '../../src/job/schedule/schedule.ts'
import { liveSchedule, overrideSchedule } from '../../src/job/schedule/schedule-sources.ts'
import { NO_OVERRIDES } from '../../src/job/queue/overrides.ts'
import { scopedKey } from '../../src/job/enqueue/new-job.ts'
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

function live(code: ScheduleDefinition | null, patch: SchedulePatch): ScheduleDefinition {
  const sources = { code, overrides: NO_OVERRIDES }
  return liveSchedule({ code, overrides: overrideSchedule(sources, patch, { by: null, at: 1 }) })
}

test('the effective schedule is the definition in code plus the changes of the operator', () => {
  expect(live(aDefinition(), {})).toEqual(aDefinition())
  expect(live(aDefinition(), { priority: 9, startAt: null })).toEqual(aDefinition({ priority: 9 }))
  expect(live(null, OTHER)).toEqual(OTHER)
  expect(live(aDefinition(), OTHER)).toEqual(OTHER)
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
