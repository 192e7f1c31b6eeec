/** The state of the schedule form: the text of its fields, and the request built from them. */
import { durationText } from '../../../kit/forms/duration.ts'
import type { Schedule } from '../../../api/types.ts'
import { readJson } from '../../../kit/json/json-problem.ts'
import {
  durationOf,
  fieldText,
  collectFields,
  instantOf,
  nameOf,
  type ParseResult,
  tagsOf,
  wholeOf,
} from '../../../kit/forms/parse-input.ts'

/** The names that the server uses. */
export const FIELDS = [
  'name',
  'job',
  'when',
  'zone',
  'payload',
  'queue',
  'priority',
  'maxAttempts',
  'timeout',
  'tags',
  'jitter',
  'start',
  'end',
  'missed',
  'within',
  'overlap',
] as const
export type ScheduleField = (typeof FIELDS)[number]
export type ScheduleDraft = Readonly<Record<ScheduleField, string>>
export type Wrong = Partial<Record<ScheduleField, string>>

export const NEW_SCHEDULE: ScheduleDraft = {
  name: '',
  job: '',
  when: '',
  zone: 'UTC',
  payload: 'null',
  queue: '',
  priority: '',
  maxAttempts: '',
  timeout: '',
  tags: '',
  jitter: '',
  start: '',
  end: '',
  missed: 'last',
  within: '1d',
  overlap: 'allow',
}

export function draftOf(schedule: Schedule): ScheduleDraft {
  return {
    name: schedule.name,
    job: schedule.kind,
    when: schedule.when,
    zone: schedule.zone,
    payload: JSON.stringify(schedule.payload ?? null, null, 2),
    queue: schedule.queue,
    priority: String(schedule.priority),
    maxAttempts: String(schedule.maxAttempts),
    timeout: schedule.timeoutMs === null ? '' : durationText(schedule.timeoutMs),
    tags: schedule.tags.join(', '),
    jitter: schedule.jitterMs === 0 ? '' : durationText(schedule.jitterMs),
    start: fieldText(schedule.startAt),
    end: fieldText(schedule.endAt),
    missed: schedule.missed,
    within: durationText(schedule.missedWithinMs),
    overlap: schedule.overlap,
  }
}

export interface ScheduleInput {
  /** The request body. */
  readonly body: Readonly<Record<string, unknown>>
  readonly wrong: Wrong
}

/** For a new schedule the filled-in fields; for an existing one (`before`) the changed fields. */
export function requestOf(draft: ScheduleDraft, before: ScheduleDraft | null): ScheduleInput {
  const { values, wrong } = collectFields<ScheduleField>(readsOf(draft))
  const needed: readonly ScheduleField[] =
    before === null ? ['name', 'job', 'when', 'zone'] : ['when', 'zone', 'queue', 'priority', 'maxAttempts']
  for (const field of needed) if (draft[field].trim() === '') wrong[field] = 'Required.'
  const { start, end } = values
  if (typeof start === 'number' && typeof end === 'number' && end < start)
    wrong.end = 'The end is before the start.'
  const from = before ?? NEW_SCHEDULE
  const changed = FIELDS.filter((field) => draft[field] !== from[field])
  const body: Record<string, unknown> = {}
  for (const field of changed) {
    if (field === 'missed' || field === 'within') body['missed'] = missedOf(draft, values.within)
    else body[field] = values[field] ?? CLEARED[field]
  }
  return { body, wrong }
}

/** The value that an emptied field resets to. */
const CLEARED: Partial<Record<ScheduleField, unknown>> = { timeout: null, start: null, end: null, jitter: 0 }

function missedOf({ missed }: ScheduleDraft, within: unknown): unknown {
  return missed === 'all' && within !== undefined ? { all: within } : missed
}

function readsOf(draft: ScheduleDraft): Record<ScheduleField, ParseResult<unknown>> {
  const payload = readJson(draft.payload)
  return {
    name: nameOf(draft.name),
    job: nameOf(draft.job),
    when: { value: draft.when.trim() },
    zone: { value: draft.zone.trim() },
    payload: 'value' in payload ? payload : { wrong: 'Enter valid JSON.' },
    queue: nameOf(draft.queue),
    priority: wholeOf(draft.priority, { least: -32_768, most: 32_767 }),
    maxAttempts: wholeOf(draft.maxAttempts, { least: 1, most: 10_000 }),
    timeout: durationOf(draft.timeout),
    tags: { value: tagsOf(draft.tags) },
    jitter: durationOf(draft.jitter),
    start: instantOf(draft.start),
    end: instantOf(draft.end),
    missed: { value: draft.missed },
    within: draft.missed === 'all' ? durationOf(draft.within) : { value: undefined },
    overlap: { value: draft.overlap },
  }
}
