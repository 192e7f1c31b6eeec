// Schedules as users write them: defaults are filled in, and every error names its field.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { defineJob } from '../../src/job/kind/definition.ts'
import { SCHEDULE_KEYS, type ScheduleDefinition } from '../../src/job/schedule/schedule.ts'
import type { ScheduleChange } from '../../src/job/schedule/schedule-change.ts'
import {
  prepareSchedule,
  prepareScheduleChange,
  type ScheduleOptions,
  timingOf,
} from '../../src/job/schedule/schedule-options.ts'
import { refusal, rejection } from './support.ts'

const plain = defineJob({ kind: 'plain', run: () => {} })
const strict = defineJob({
  kind: 'strict',
  queue: 'mail',
  priority: 3,
  maxAttempts: 7,
  timeout: '1m',
  payload: z.object({ to: z.email() }),
  run: () => {},
})
const late = defineJob({
  kind: 'late',
  payload: z.object({ n: z.number() }).refine(async ({ n }) => n > 0, 'is not positive'),
  run: () => {},
})

const tools = {
  definition: (kind: string) => [plain, strict, late].find((job) => job.kind === kind),
  queueOf: (kind: string) => `routed-${kind}`,
  payloadLimitBytes: 1_000,
}

const nightly: ScheduleOptions = { name: 'nightly', job: plain, when: '@daily' }
const prepare = (options: Partial<ScheduleOptions> = {}) => prepareSchedule({ ...nightly, ...options }, tools)
const define = (options: Partial<ScheduleOptions> = {}): ScheduleDefinition => prepare(options).definition
const change = (changes: ScheduleChange, live: ScheduleDefinition = define()) =>
  prepareScheduleChange(changes, live, tools)

describe('a schedule', () => {
  test('needs only a name, a job and when', () => {
    expect(prepare()).toEqual({
      name: 'nightly',
      version: 1,
      named: ['when', 'kind'],
      fits: undefined,
      definition: {
        when: '@daily',
        zone: 'UTC',
        jitterMs: 0,
        startAt: null,
        endAt: null,
        missed: 'last',
        missedWithinMs: 86_400_000,
        overlap: 'allow',
        paused: false,
        kind: 'plain',
        queue: 'routed-plain',
        payload: 'null',
        priority: 0,
        maxAttempts: 5,
        timeoutMs: null,
        tags: [],
      },
    })
  })

  test('accepts all options', () => {
    const options: ScheduleOptions = {
      name: 'weekly:report',
      job: 'plain',
      when: '  0  9 * * MON ',
      zone: 'Europe/Paris',
      payload: { a: [1] },
      priority: -2,
      queue: 'reports',
      maxAttempts: 1,
      timeout: '90s',
      tags: ['a', 'b', 'a'],
      jitter: '5m',
      start: '2027-01-01T00:00:00Z',
      end: new Date('2028-01-01T00:00:00Z'),
      missed: { all: '2h' },
      overlap: 'skip',
      paused: true,
      version: 4,
    }
    expect(prepareSchedule(options, tools)).toEqual({
      name: 'weekly:report',
      version: 4,
      named: SCHEDULE_KEYS,
      fits: undefined,
      definition: {
        when: '0 9 * * MON',
        zone: 'Europe/Paris',
        jitterMs: 300_000,
        startAt: Date.parse('2027-01-01T00:00:00Z'),
        endAt: Date.parse('2028-01-01T00:00:00Z'),
        missed: 'all',
        missedWithinMs: 7_200_000,
        overlap: 'skip',
        paused: true,
        kind: 'plain',
        queue: 'reports',
        payload: '{"a":[1]}',
        priority: -2,
        maxAttempts: 1,
        timeoutMs: 90_000,
        tags: ['a', 'b'],
      },
    })
  })

  test('takes defaults from its kind, given by definition or by name', () => {
    const payload = { to: 'ada@example.com' }
    const expected = { kind: 'strict', queue: 'mail', priority: 3, maxAttempts: 7, timeoutMs: null }
    expect(define({ job: strict, payload })).toMatchObject(expected)
    expect(define({ job: 'strict', payload })).toMatchObject(expected)
    expect(define({ job: strict, payload, queue: 'q', priority: 0 })).toMatchObject({
      queue: 'q',
      priority: 0,
    })
    expect(define({ job: 'foreign' })).toMatchObject({ kind: 'foreign', queue: 'routed-foreign' })
  })

  test.each(['skip', 'last', 'all'] as const)('accepts missed: %s', (missed) => {
    expect(define({ missed })).toMatchObject({ missed, missedWithinMs: 86_400_000 })
  })

  test.each<[string, object, string, string]>([
    ['an unknown option', { zones: 'UTC' }, 'OPTION_UNKNOWN', 'schedule.zones'],
    ['an invalid name', { name: 'my schedule' }, 'NAME_INVALID', 'schedule.name'],
    ['an invalid job', { job: { kind: 'plain' } }, 'OPTION_INVALID', 'schedule.job'],
    ['an invalid kind', { job: 'a kind' }, 'NAME_INVALID', 'schedule.job'],
    ['an invalid expression', { when: '0 25 * * *' }, 'SCHEDULE_INVALID', 'schedule.when'],
    ['a missing expression', { when: undefined }, 'SCHEDULE_INVALID', 'schedule.when'],
    ['an expression without ticks', { when: '0 0 31 2 *' }, 'SCHEDULE_INVALID', 'schedule.when'],
    ['an unknown zone', { zone: 'Europe/Pari' }, 'SCHEDULE_INVALID', 'schedule.zone'],
    ['an invalid priority', { priority: 1.5 }, 'NUMBER_INVALID', 'schedule.priority'],
    ['an invalid queue', { queue: 'a,b' }, 'NAME_INVALID', 'schedule.queue'],
    ['invalid attempts', { maxAttempts: 0 }, 'NUMBER_INVALID', 'schedule.maxAttempts'],
    ['an invalid timeout', { timeout: 0 }, 'DURATION_INVALID', 'schedule.timeout'],
    ['tags that are not an array', { tags: 'a' }, 'OPTION_INVALID', 'schedule.tags'],
    ['an invalid tag', { tags: ['a', ''] }, 'NAME_INVALID', 'schedule.tags[1]'],
    ['a negative jitter', { jitter: '-1s' }, 'DURATION_INVALID', 'schedule.jitter'],
    ['an invalid start', { start: 'tomorrow' }, 'INSTANT_INVALID', 'schedule.start'],
    ['an invalid end', { end: 5e15 }, 'INSTANT_INVALID', 'schedule.end'],
    ['an unknown missed policy', { missed: 'some' }, 'OPTION_INVALID', 'schedule.missed'],
    [
      'an invalid window for missed ticks',
      { missed: { all: 'long' } },
      'DURATION_INVALID',
      'schedule.missed.all',
    ],
    [
      'an unknown option of missed',
      { missed: { all: '1h', most: 3 } },
      'OPTION_UNKNOWN',
      'schedule.missed.most',
    ],
    ['an unknown overlap policy', { overlap: 'queue' }, 'OPTION_INVALID', 'schedule.overlap'],
    ['an invalid paused', { paused: 'yes' }, 'OPTION_INVALID', 'schedule.paused'],
    ['an invalid version', { version: '2' }, 'NUMBER_INVALID', 'schedule.version'],
    ['a payload that is not JSON', { payload: 5n }, 'PAYLOAD_NOT_JSON', 'schedule.payload'],
    ['a payload that is too large', { payload: 'x'.repeat(2_000) }, 'PAYLOAD_TOO_LARGE', 'schedule.payload'],
    [
      'a payload that does not fit',
      { job: strict, payload: { to: 'x' } },
      'PAYLOAD_INVALID',
      'schedule.payload.to',
    ],
    ['a missing payload', { job: strict }, 'PAYLOAD_INVALID', 'schedule.payload'],
    [
      'an end before the start',
      { start: '2027-01-02T00:00:00Z', end: '2027-01-01T00:00:00Z' },
      'OPTION_CONFLICT',
      'schedule.end',
    ],
    [
      'nothing between start and end',
      { start: '2027-01-01T01:00:00Z', end: '2027-01-01T23:00:00Z' },
      'SCHEDULE_INVALID',
      'schedule.when',
    ],
  ])('refuses %s', (_, options, code, field) => {
    expect(refusal(() => prepareSchedule({ ...nightly, ...options }, tools))).toMatchObject({ code, field })
  })

  test('refuses a value that is not an object', () => {
    expect(refusal(() => prepareSchedule('@daily' as never, tools)).code).toBe('OPTION_INVALID')
  })

  test('names the nearest option, and the path that the caller gave', () => {
    const error = refusal(() =>
      prepareSchedule({ ...nightly, whne: '@daily' } as never, tools, 'schedules[2]'),
    )
    expect(error).toMatchObject({ field: 'schedules[2].whne', fix: 'Did you mean "when"?' })
  })

  test('can have ended already: code outlives its schedules', () => {
    expect(define({ end: '2001-01-01T00:00:00Z' }).endAt).toBe(Date.parse('2001-01-01T00:00:00Z'))
  })

  test('with an async schema is validated later, and refused then', async () => {
    const good = prepare({ job: late, payload: { n: 1 } })
    await expect(good.fits).resolves.toEqual({ n: 1 })
    const bad = prepare({ job: 'late', payload: { n: -1 } })
    expect(await rejection(async () => bad.fits)).toMatchObject({
      code: 'PAYLOAD_INVALID',
      field: 'schedule.payload',
    })
  })
})

describe('a change', () => {
  test('contains the given options and no others', () => {
    expect(change({ when: 'every 5m' }).patch).toEqual({ when: 'every 5m' })
    expect(change({}).patch).toEqual({})
    expect(change({ paused: true, jitter: 0, missed: 'all' }).patch).toEqual({
      paused: true,
      jitterMs: 0,
      missed: 'all',
      missedWithinMs: 86_400_000,
    })
  })

  test('can remove options', () => {
    expect(change({ start: null, end: null, timeout: null }).patch).toEqual({
      startAt: null,
      endAt: null,
      timeoutMs: null,
    })
  })

  test('of the payload is validated against the schema of the kind', () => {
    const live = define({ job: strict, payload: { to: 'ada@example.com' } })
    expect(change({ payload: { to: 'bob@example.com' } }, live).patch).toEqual({
      payload: '{"to":"bob@example.com"}',
    })
    expect(refusal(() => change({ payload: { to: 1 } }, live))).toMatchObject({
      code: 'PAYLOAD_INVALID',
      field: 'change.payload.to',
    })
  })

  test('is validated together with the unchanged options', () => {
    const live = define({ start: '2027-06-01T00:00:00Z' })
    expect(refusal(() => change({ end: '2027-01-01T00:00:00Z' }, live))).toMatchObject({
      field: 'change.end',
    })
  })

  test.each(['name', 'job', 'version'])('cannot set the %s', (key) => {
    expect(refusal(() => change({ [key]: 'x' }))).toMatchObject({
      code: 'OPTION_UNKNOWN',
      field: `change.${key}`,
    })
  })

  test('refuses the same values as a schedule', () => {
    expect(refusal(() => change({ when: '* * *' }))).toMatchObject({
      code: 'SCHEDULE_INVALID',
      field: 'change.when',
    })
  })
})

test('when on its own is validated as in a schedule', () => {
  expect(timingOf({ when: '@daily', start: 1e12 })).toMatchObject({
    when: '@daily',
    zone: 'UTC',
    startAt: 1e12,
    endAt: null,
  })
  expect(refusal(() => timingOf({ when: '@dayly' }))).toMatchObject({ field: 'schedule.when' })
  expect(refusal(() => timingOf({ when: '@daily', zone: 'Mars' }))).toMatchObject({ field: 'schedule.zone' })
})
