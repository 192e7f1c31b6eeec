/** Errors about schedules and limits that are missing, already exist, or are in use. */
import type { Overridable } from '../job/overrides.ts'
import { JobmillError, shown } from '../job/errors.ts'

export function scheduleExists(name: string): JobmillError {
  return new JobmillError('SCHEDULE_EXISTS', 'there is a schedule of this name already', {
    field: 'schedule',
    value: shown(name),
    fix: 'Change that one, delete it first, or choose another name',
  })
}

export function scheduleUnknown(name: string): JobmillError {
  return new JobmillError('SCHEDULE_UNKNOWN', 'no schedule has this name', {
    field: 'schedule',
    value: shown(name),
    fix: 'Define it in code or create it first',
  })
}

export function limitUnknown(name: string): JobmillError {
  return new JobmillError('LIMIT_UNKNOWN', 'no limit has this name', {
    field: 'limit',
    value: shown(name),
    fix: 'Declare it first',
  })
}

/** `perKey`: whether the limit has a budget per key. */
export function wrongKey(name: string, perKey: boolean): JobmillError {
  return perKey
    ? new JobmillError(
        'OPTION_CONFLICT',
        `is missing: the limit ${shown(name)} counts for each key by itself`,
        {
          field: 'key',
          fix: "Name the one that is meant, such as { key: 'chat:42' }",
        },
      )
    : new JobmillError('OPTION_CONFLICT', `is named, but the limit ${shown(name)} is one budget for all`, {
        field: 'key',
        fix: 'Leave it out, or make another limit with perKey: true',
      })
}

export function perKeyFixed(name: string, perKey: boolean): JobmillError {
  const is = perKey ? 'counts for each key by itself' : 'is one budget for all'
  return new JobmillError('OPTION_CONFLICT', `cannot be changed: the limit ${shown(name)} ${is}`, {
    field: 'limit.perKey',
    fix: 'Make another limit, and draw on that',
  })
}

export function perKeyOnQueue(name: string, field = 'limit'): JobmillError {
  return new JobmillError('OPTION_CONFLICT', 'counts for each key by itself, and a claim names no key', {
    field,
    value: shown(name),
    fix: 'Give the queue another limit, and draw on this one in the handler',
  })
}

export function limitInUse(name: string, queue: string): JobmillError {
  return new JobmillError('LIMIT_IN_USE', `the queue ${shown(queue)} draws on it`, {
    field: 'limit',
    value: shown(name),
    fix: 'Take it from that queue first',
  })
}

export function limitExists(name: string): JobmillError {
  return new JobmillError('OPTION_CONFLICT', 'a limit with this name exists', {
    field: 'name',
    value: shown(name),
    fix: 'Change it with mill.limits.change, or delete it first',
  })
}

/** For a reset of something that code does not define, so that there is no value to return to. */
export function notInCode(what: Overridable, name: string): JobmillError {
  return new JobmillError('OPTION_CONFLICT', `was created at run time, so code has no value for it`, {
    field: what,
    value: shown(name),
    fix: `Change or delete it, or declare the ${what} in code first`,
  })
}
