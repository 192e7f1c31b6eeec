/** What can be said of a new schedule, as options. */
import { JobmillError } from '../../job/errors.ts'
import { MISSED, OVERLAPS } from '../../job/schedule.ts'
import type { ScheduleChange, ScheduleOptions } from '../../job/schedule-options.ts'
import type { Given, Option } from '../command.ts'
import { UNKNOWN_KIND } from '../enqueue/known-kind.ts'
import { asLength, jsonOf, lengthOf, numberOf, said } from '../typed-values.ts'

export const ZONE: Option = {
  type: 'string',
  takes: 'ZONE',
  says: 'the time zone that it is meant in (default UTC)',
}

export const SCHEDULE_OPTIONS: Readonly<Record<string, Option>> = {
  when: { type: 'string', takes: 'EXPR', says: `'0 9 * * MON', @daily, 'every 10m'` },
  kind: { type: 'string', takes: 'KIND', says: 'the kind of its jobs' },
  payload: { type: 'string', takes: 'JSON', says: 'of every job (default null)' },
  zone: ZONE,
  queue: { type: 'string', takes: 'NAME', says: 'where its jobs wait' },
  priority: { type: 'string', takes: 'N', says: 'lower runs first' },
  'max-attempts': { type: 'string', takes: 'N', says: 'dead after so many' },
  timeout: { type: 'string', takes: 'DURATION', says: 'how long one attempt may take' },
  tag: { type: 'string', takes: 'TEXT', says: 'of every job', multiple: true },
  jitter: { type: 'string', takes: 'DURATION', says: 'each job is due up to this much later, by chance' },
  start: { type: 'string', takes: 'INSTANT', says: 'nothing before' },
  end: { type: 'string', takes: 'INSTANT', says: 'nothing after' },
  overlap: {
    type: 'string',
    takes: 'HOW',
    says: `${OVERLAPS.join(' or ')}: nothing new while a job of it waits or runs`,
  },
  missed: {
    type: 'string',
    takes: 'HOW',
    says: `what passed while nobody could enqueue: ${MISSED.join(', ')}, or all of the last 6h`,
  },
  paused: { type: 'boolean', says: 'not yet' },
  'unknown-kind': UNKNOWN_KIND,
}

/** What the library calls them. */
export const SCHEDULE_FIELDS: Readonly<Record<string, string>> = {
  'schedule.name': 'NAME',
  'schedule.job': '--kind',
  'schedule.payload': '--payload',
  'schedule.when': '--when',
  'schedule.zone': '--zone',
  'schedule.queue': '--queue',
  'schedule.priority': '--priority',
  'schedule.maxAttempts': '--max-attempts',
  'schedule.timeout': '--timeout',
  'schedule.tags': '--tag',
  'schedule.jitter': '--jitter',
  'schedule.start': '--start',
  'schedule.end': '--end',
  'schedule.overlap': '--overlap',
  'schedule.missed': '--missed',
}

export function newScheduleOf(given: Given): ScheduleOptions<unknown> {
  const payload = given.text('payload')
  const tags = given.texts('tag')
  return {
    name: given.words[0] ?? '',
    job: needed(given, 'kind'),
    when: needed(given, 'when'),
    ...said({
      payload: payload === undefined ? undefined : jsonOf(payload, '--payload'),
      zone: given.text('zone'),
      queue: given.text('queue'),
      priority: numberOf(given, 'priority'),
      maxAttempts: numberOf(given, 'max-attempts'),
      timeout: lengthOf(given, 'timeout'),
      tags: tags.length === 0 ? undefined : tags,
      jitter: lengthOf(given, 'jitter'),
      start: given.text('start'),
      end: given.text('end'),
      // What it cannot be is told by the checks of a schedule.
      overlap: given.text('overlap') as ScheduleChange['overlap'],
      missed: missedOf(given.text('missed')),
      paused: given.has('paused') ? true : undefined,
    }),
  }
}

/** A length of time: all of that. */
function missedOf(text: string | undefined): ScheduleChange['missed'] {
  return text !== undefined && /^\d/.test(text)
    ? { all: asLength(text, '--missed') }
    : (text as ScheduleChange['missed'])
}

function needed(given: Given, option: 'kind' | 'when'): string {
  const text = given.text(option)
  if (text !== undefined) return text
  const { takes = '', says } = SCHEDULE_OPTIONS[option] ?? { says: '' }
  throw new JobmillError('OPTION_INVALID', 'is missing', {
    field: `--${option}`,
    fix: `Give --${option} ${takes}: ${says}`,
  })
}
