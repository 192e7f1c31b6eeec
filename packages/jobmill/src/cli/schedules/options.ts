/** The options of a new schedule. */
import { MISSED, OVERLAPS } from '../../job/schedule/schedule.ts'
import type { ScheduleChange, ScheduleOptions } from '../../job/schedule/schedule-options.ts'
import type { ParsedArguments, Option } from '../program/command.ts'
import { UNKNOWN_KIND } from '../enqueue/known-kind.ts'
import { fieldsOf } from '../program/own-words.ts'
import { asLength, jsonOf, lengthOf, numberOf } from '../program/typed-values.ts'
import { omitUndefined } from '../../job/options/omit-undefined.ts'
import { invalid } from '../program/invalid.ts'

export const ZONE: Option = { takes: 'ZONE', says: 'time zone of the expression (default UTC)' }

export const SCHEDULE_OPTIONS: Readonly<Record<string, Option>> = {
  when: { takes: 'EXPR', says: `cron expression or interval: '0 9 * * MON', @daily, 'every 10m'` },
  kind: { takes: 'KIND', says: 'kind of the jobs' },
  payload: { takes: 'JSON', says: 'payload of every job (default null)' },
  zone: ZONE,
  queue: { takes: 'NAME', says: 'queue of the jobs' },
  priority: { takes: 'N', says: 'a lower number runs first' },
  'max-attempts': { takes: 'N', says: 'attempts before a job is dead' },
  timeout: { takes: 'DURATION', says: 'time limit of one attempt' },
  tag: { takes: 'TEXT', says: 'tag of every job', multiple: true },
  jitter: { takes: 'DURATION', says: 'delay each job randomly by up to this much' },
  start: { takes: 'INSTANT', says: 'skip ticks before this instant' },
  end: { takes: 'INSTANT', says: 'skip ticks after this instant' },
  overlap: { takes: 'HOW', says: `${OVERLAPS.join(' or ')}: skip a tick while an earlier job has not ended` },
  missed: {
    takes: 'HOW',
    says: `how to handle ticks missed during downtime: ${MISSED.join(', ')}, or a duration (6h: all ticks of the last 6 hours)`,
  },
  paused: { says: 'create the schedule paused' },
  'unknown-kind': UNKNOWN_KIND,
}

/** Maps the library's field names to options. */
export const SCHEDULE_FIELDS: Readonly<Record<string, string>> = {
  ...fieldsOf('schedule', SCHEDULE_OPTIONS),
  'schedule.name': 'NAME',
  'schedule.job': '--kind',
  'schedule.tags': '--tag',
}

export function newScheduleOf(parsed: ParsedArguments): ScheduleOptions<unknown> {
  const payload = parsed.text('payload')
  const tags = parsed.texts('tag')
  return {
    name: parsed.words[0] ?? '',
    job: needed(parsed, 'kind'),
    when: needed(parsed, 'when'),
    ...omitUndefined({
      payload: payload === undefined ? undefined : jsonOf(payload, '--payload'),
      zone: parsed.text('zone'),
      queue: parsed.text('queue'),
      priority: numberOf(parsed, 'priority'),
      maxAttempts: numberOf(parsed, 'max-attempts'),
      timeout: lengthOf(parsed, 'timeout'),
      tags: tags.length === 0 ? undefined : tags,
      jitter: lengthOf(parsed, 'jitter'),
      start: parsed.text('start'),
      end: parsed.text('end'),
      // The library checks the value.
      overlap: parsed.text('overlap') as ScheduleChange['overlap'],
      missed: missedOf(parsed.text('missed')),
      paused: parsed.has('paused') ? true : undefined,
    }),
  }
}

/** A duration means all missed ticks within it. */
function missedOf(text: string | undefined): ScheduleChange['missed'] {
  return text !== undefined && /^\d/.test(text)
    ? { all: asLength(text, '--missed') }
    : (text as ScheduleChange['missed'])
}

function needed(parsed: ParsedArguments, option: 'kind' | 'when'): string {
  const text = parsed.text(option)
  if (text !== undefined) return text
  const { takes = '', says } = SCHEDULE_OPTIONS[option] ?? { says: '' }
  throw invalid(`--${option}`, 'is missing', `Pass --${option} ${takes}: ${says}`)
}
