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
import { checkSchedule, checkTick } from '../../src/store/checks/check-cluster.ts'
import { aDefinition, aJob, aTick } from '../../../conformance/src/factories.ts'
import { refusal } from './support.ts'

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

test('a complete definition is valid as it is, and a part of one is valid as a change', () => {
  for (const definition of [aDefinition(), OTHER])
    expect(checkSchedule(definition, 'definition', true)).toBe(definition)
  expect(checkSchedule({}, 'patch', false)).toEqual({})
  expect(checkSchedule({ paused: true, endAt: null }, 'patch', false)).toEqual({ paused: true, endAt: null })
})

test.each<[object, string, string]>([
  [{ when: undefined }, 'NAME_INVALID', 'definition.when'],
  [{ zone: 5 }, 'NAME_INVALID', 'definition.zone'],
  [{ jitterMs: -1 }, 'NUMBER_INVALID', 'definition.jitterMs'],
  [{ startAt: 1.5 }, 'NUMBER_INVALID', 'definition.startAt'],
  [{ endAt: 7_258_118_400_001 }, 'NUMBER_INVALID', 'definition.endAt'],
  [{ missed: 'none' }, 'OPTION_INVALID', 'definition.missed'],
  [{ missedWithinMs: Number.NaN }, 'NUMBER_INVALID', 'definition.missedWithinMs'],
  [{ overlap: 'wait' }, 'OPTION_INVALID', 'definition.overlap'],
  [{ paused: 'no' }, 'OPTION_INVALID', 'definition.paused'],
  [{ kind: 'a b' }, 'NAME_INVALID', 'definition.kind'],
  [{ queue: '-a' }, 'NAME_INVALID', 'definition.queue'],
  [{ payload: 'hello' }, 'PAYLOAD_NOT_JSON', 'definition.payload'],
  [{ priority: 32_768 }, 'NUMBER_INVALID', 'definition.priority'],
  [{ maxAttempts: 0 }, 'NUMBER_INVALID', 'definition.maxAttempts'],
  [{ timeoutMs: -5 }, 'NUMBER_INVALID', 'definition.timeoutMs'],
  [{ tags: 'red' }, 'OPTION_INVALID', 'definition.tags'],
  [{ tags: ['a', ''] }, 'NAME_INVALID', 'definition.tags[1]'],
  [{ cron: '* * * * *' }, 'OPTION_UNKNOWN', 'definition.cron'],
])('%j is refused in a definition', (wrong, code, field) => {
  const definition = { ...aDefinition(), ...wrong }
  expect(refusal(() => checkSchedule(definition, 'definition', true))).toMatchObject({ code, field })
})

test('a tick is validated down to the instants of its jobs', () => {
  const fires = [{ at: 1, job: aJob() }]
  expect(checkTick(aTick('daily', { fires, from: 1, nextAt: 2 }), 0).fires).toBe(fires)
  const late = { fires: [...fires, { at: 7_258_118_400_001, job: aJob() }] }
  expect(refusal(() => checkTick(aTick('daily', late), 3))).toMatchObject({
    code: 'NUMBER_INVALID',
    field: 'ticks[3].fires[1].at',
  })
})

test('N1 a deletion by an earlier release, with older changes, is one override, and its reset removes all', () => {
  const sources = { code: aDefinition(), operator: { priority: 4 }, stamps: {}, deleted: true }
  expect(scheduleOverrides('daily', sources)).toMatchObject([
    { option: 'deleted', value: true, code: false, by: null, at: null },
  ])
  expect(resetSchedule(sources, null)).toEqual({ operator: {}, stamps: {}, deleted: false })
})
