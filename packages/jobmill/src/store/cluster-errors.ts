/** Errors about schedules and limits that are missing, already exist, or are in use. */
import type { Overridable } from '../job/queue/overrides.ts'
import { JobmillError, quote } from '../job/errors.ts'

export function scheduleExists(name: string): JobmillError {
  return new JobmillError('SCHEDULE_EXISTS', 'a schedule with this name already exists', {
    field: 'schedule',
    value: quote(name),
    fix: 'Change that schedule, delete it first, or use another name',
  })
}

export function scheduleUnknown(name: string): JobmillError {
  return new JobmillError('SCHEDULE_UNKNOWN', 'no schedule has this name', {
    field: 'schedule',
    value: quote(name),
    fix: 'Use the name of an existing schedule, or define it in code or create it first',
  })
}

export function limitUnknown(name: string): JobmillError {
  return new JobmillError('LIMIT_UNKNOWN', 'no limit has this name', {
    field: 'limit',
    value: quote(name),
    fix: { code: 'limit.create' },
  })
}

/** `perKey`: whether the limit has a budget per key. */
export function wrongKey(name: string, perKey: boolean): JobmillError {
  return perKey
    ? new JobmillError('OPTION_CONFLICT', `is required: the limit ${quote(name)} has a budget per key`, {
        field: 'key',
        fix: { code: 'limit.key' },
      })
    : new JobmillError('OPTION_CONFLICT', `is not allowed: the limit ${quote(name)} has a single budget`, {
        field: 'key',
        fix: { code: 'limit.per-key' },
      })
}

export function perKeyFixed(name: string, perKey: boolean): JobmillError {
  const is = perKey ? 'has a budget per key' : 'has a single budget'
  return new JobmillError('OPTION_CONFLICT', `cannot be changed: the limit ${quote(name)} ${is}`, {
    field: 'limit.perKey',
    fix: 'Create another limit and use that one',
  })
}

export function perKeyOnQueue(
  name: string,
  field = 'limit',
  fix = 'Use another limit for the queue, and acquire this one in the handler',
): JobmillError {
  return new JobmillError('OPTION_CONFLICT', 'has a budget per key, but a claim has no key', {
    field,
    value: quote(name),
    fix,
  })
}

export function limitInUse(name: string, queue: string): JobmillError {
  return new JobmillError('LIMIT_IN_USE', `is used by the queue ${quote(queue)}`, {
    field: 'limit',
    value: quote(name),
    fix: 'Remove the limit from that queue first',
  })
}

export function limitExists(name: string): JobmillError {
  return new JobmillError('OPTION_CONFLICT', 'a limit with this name already exists', {
    field: 'name',
    value: quote(name),
    fix: { code: 'limit.change' },
  })
}

/** The error for a reset of something that code does not define: it has no value to return to. */
export function notInCode(what: Overridable, name: string): JobmillError {
  return new JobmillError('OPTION_CONFLICT', `was created at run time, so code has no value for it`, {
    field: what,
    value: quote(name),
    fix: `Change or delete it, or declare the ${what} in code first`,
  })
}
