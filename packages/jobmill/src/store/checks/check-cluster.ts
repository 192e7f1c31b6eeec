/** Argument checks for slots, schedules, limits, metrics and events. */
import { BOUNDS, DEFAULTS } from '../../job/defaults.ts'
import { JobmillError, quote } from '../../job/errors.ts'
import { storableText } from '../../job/text/error-text.ts'
import { checkJsonText } from '../../job/text/json-text.ts'
import { checkObjectKeys } from '../../job/options/known-keys.ts'
import { checkLimitParts } from '../../job/limit/limit.ts'
import { checkLimitKey } from '../../job/limit/limit-draw.ts'
import { checkId, checkKey, checkName, checkSoughtName } from '../../job/names.ts'
import { checkBoolean, checkOneOf, checkWhole } from '../../job/numbers.ts'
import { MISSED, OVERLAPS, SCHEDULE_KEYS, type SchedulePatch } from '../../job/schedule/schedule.ts'
import { DURATION } from './check-requests.ts'
import type { SlotChange } from '../types/duty.ts'
import type { DeclaredLimit, PermitOf, AcquireRequest } from '../types/limit.ts'
import { type MetricQuery, type Recording, RESOLUTIONS, type TimelineQuery } from '../types/metrics.ts'
import type { RetainRequest } from '../types/replies.ts'
import type { DeclaredSchedule, Tick } from '../types/schedule.ts'

const INSTANT = { least: 0, most: BOUNDS.lastInstantAt }
const COUNT = { least: 0, most: Number.MAX_SAFE_INTEGER }

export function checkSlots(slots: readonly SlotChange[]): readonly SlotChange[] {
  for (const [at, { instance, queue, workers }] of slots.entries()) {
    checkId(instance, `slots[${at}].instance`)
    checkName(queue, `slots[${at}].queue`)
    if (workers !== null) checkWhole(workers, `slots[${at}].workers`, BOUNDS.workers)
  }
  return slots
}

export function checkDeclaredSchedule(schedule: DeclaredSchedule, at: number): DeclaredSchedule {
  const field = `schedules[${at}]`
  checkName(schedule.name, `${field}.name`)
  checkWhole(schedule.version, `${field}.version`, COUNT)
  checkSchedule(schedule.definition, `${field}.definition`, true)
  return schedule
}

/**
 * Cron expressions and time zones are validated where the user passes them. This check only rejects values
 * that a database could not store.
 */
export function checkSchedule<T extends SchedulePatch>(definition: T, field: string, complete: boolean): T {
  checkObjectKeys(definition, field, SCHEDULE_KEYS)
  for (const key of SCHEDULE_KEYS) {
    const value: unknown = definition[key]
    if (value === undefined && !complete) continue
    CHECKS[key](value, `${field}.${key}`)
  }
  return definition
}

type Check = (value: unknown, field: string) => unknown
const orNull =
  (check: Check): Check =>
  (value, field) =>
    value === null ? null : check(value, field)
const duration: Check = (value, field) => checkWhole(value, field, DURATION)
const instant: Check = (value, field) => checkWhole(value, field, INSTANT)
const text: Check = (value, field) => checkKey(value, field)

const CHECKS: Readonly<Record<(typeof SCHEDULE_KEYS)[number], Check>> = {
  when: text,
  zone: text,
  jitterMs: duration,
  startAt: orNull(instant),
  endAt: orNull(instant),
  missed: (value, field) => checkOneOf(value, field, MISSED),
  missedWithinMs: duration,
  overlap: (value, field) => checkOneOf(value, field, OVERLAPS),
  paused: checkBoolean,
  kind: checkName,
  queue: checkName,
  payload: (value, field) => checkJsonText(value, field, DEFAULTS.payloadLimitBytes),
  priority: (value, field) => checkWhole(value, field, BOUNDS.priority),
  maxAttempts: (value, field) => checkWhole(value, field, BOUNDS.maxAttempts),
  timeoutMs: orNull(duration),
  tags(value, field) {
    if (!Array.isArray(value)) throw notAnArray(value, field)
    value.forEach((tag, at) => checkKey(tag, `${field}[${at}]`, BOUNDS.tagChars))
  },
}

function notAnArray(value: unknown, field: string): JobmillError {
  return new JobmillError('OPTION_INVALID', 'must be an array', {
    field,
    value: quote(value),
    fix: 'Pass an array',
  })
}

export function checkTick(tick: Tick, index: number): Tick {
  const field = `ticks[${index}]`
  checkName(tick.schedule, `${field}.schedule`)
  checkWhole(tick.revision, `${field}.revision`, COUNT)
  checkWhole(tick.missed, `${field}.missed`, COUNT)
  if (tick.from !== null) checkWhole(tick.from, `${field}.from`, INSTANT)
  if (tick.nextAt !== null) checkWhole(tick.nextAt, `${field}.nextAt`, INSTANT)
  for (const [at, fire] of tick.fires.entries()) checkWhole(fire.at, `${field}.fires[${at}].at`, INSTANT)
  return tick
}

export function checkAcquire(take: AcquireRequest, index: number): AcquireRequest {
  const field = `items[${index}]`
  checkName(take.limit, `${field}.limit`)
  if (take.key !== undefined) checkLimitKey(take.key, `${field}.key`)
  checkWhole(take.amount, `${field}.amount`, BOUNDS.limit)
  checkWhole(take.waitUpToMs, `${field}.waitUpToMs`, DURATION)
  if (take.token !== null) checkWhole(take.token, `${field}.token`, COUNT)
  return {
    ...take,
    holder: checkId(take.holder, `${field}.holder`),
    instance: checkId(take.instance, `${field}.instance`),
  }
}

export function checkPermitOf({ limit, holder, token }: PermitOf, index: number): PermitOf {
  const field = `items[${index}]`
  if (token !== null) checkWhole(token, `${field}.token`, COUNT)
  return { limit, holder: checkId(holder, `${field}.holder`), token }
}

export function checkLimit(limit: DeclaredLimit, at: number): void {
  checkName(limit.name, `limits[${at}].name`)
  checkLimitParts(limit.settings, `limits[${at}].settings`)
}

export function checkRetain(request: RetainRequest): RetainRequest {
  checkObjectKeys(request, 'request', ['limit', 'ticksMs', 'eventsMs', 'metricsMs', 'queues'])
  for (const [at, name] of (request.queues ?? []).entries()) checkName(name, `queues[${at}]`)
  checkWhole(request.limit, 'limit', { least: 1, most: 10_000 })
  checkWhole(request.ticksMs, 'ticksMs', DURATION)
  checkWhole(request.eventsMs, 'eventsMs', DURATION)
  for (const [at, ms] of request.metricsMs.entries()) checkWhole(ms, `metricsMs[${at}]`, DURATION)
  return request
}

export function checkRecording(recording: Recording): Recording {
  checkObjectKeys(recording, 'recording', ['source', 'seq', 'deltas', 'own', 'events'])
  checkWhole(recording.seq, 'seq', COUNT)
  for (const [at, { scope, agoMs }] of [...recording.deltas, ...recording.own].entries()) {
    checkKey(scope, `metrics[${at}].scope`)
    checkWhole(agoMs, `metrics[${at}].agoMs`, DURATION)
  }
  return {
    ...recording,
    source: checkId(recording.source, 'source'),
    events: recording.events.map((event, at) => {
      checkWhole(event.agoMs, `events[${at}].agoMs`, DURATION)
      checkJsonText(event.data, `events[${at}].data`, DEFAULTS.payloadLimitBytes)
      return {
        ...event,
        type: storableText(event.type),
        job: event.job === null ? null : checkId(event.job, `events[${at}].job`),
      }
    }),
  }
}

export function checkMetricQuery(query: MetricQuery): MetricQuery {
  checkObjectKeys(query, 'query', ['scopes', 'resolution', 'from', 'before'])
  checkOneOf(String(query.resolution), 'resolution', RESOLUTIONS.map(String))
  checkWhole(query.from, 'from', INSTANT)
  checkWhole(query.before, 'before', INSTANT)
  query.scopes?.forEach((scope, at) => checkSoughtName(scope, `query.scopes[${at}]`))
  return query
}

export function checkTimelineQuery(query: TimelineQuery): TimelineQuery {
  checkObjectKeys(query, 'query', ['types', 'queue', 'job', 'from', 'before', 'limit', 'beforeN'])
  checkWhole(query.limit, 'limit', { least: 1, most: BOUNDS.pageLimit })
  if (query.from !== undefined) checkWhole(query.from, 'from', INSTANT)
  if (query.before !== undefined) checkWhole(query.before, 'before', INSTANT)
  if (query.beforeN !== undefined) checkWhole(query.beforeN, 'beforeN', COUNT)
  if (query.job !== undefined) checkId(query.job, 'job')
  if (query.queue !== undefined) checkSoughtName(query.queue, 'query.queue')
  query.types?.forEach((type, at) => checkSoughtName(type, `query.types[${at}]`))
  return query
}
