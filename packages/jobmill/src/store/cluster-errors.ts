/** Errors about schedules and limits that are missing, already exist, or are in use. */
import type { Overridable } from '../job/queue/overrides.ts'
import { invalidValue, JobmillError, quote } from '../job/errors.ts'

export function scheduleExists(name: string): JobmillError {
  const fix = 'Change that schedule, delete it first, or use another name'
  return invalidValue('schedule', name, 'a schedule with this name already exists', fix, 'SCHEDULE_EXISTS')
}

export function scheduleUnknown(name: string): JobmillError {
  const fix = 'Use the name of an existing schedule, or create this one first'
  return invalidValue('schedule', name, 'no schedule has this name', fix, 'SCHEDULE_UNKNOWN')
}

export function limitUnknown(name: string): JobmillError {
  return invalidValue('limit', name, 'no limit has this name', { code: 'limit.create' }, 'LIMIT_UNKNOWN')
}

/** `perKey`: whether the limit has a budget per key. */
export function wrongKey(name: string, perKey: boolean): JobmillError {
  const what = perKey
    ? `is required: the limit ${quote(name)} has a budget per key`
    : `is not allowed: the limit ${quote(name)} has a single budget`
  const code = perKey ? 'limit.key' : 'limit.per-key'
  return new JobmillError('OPTION_CONFLICT', what, { field: 'key', fix: { code } })
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
  return invalidValue(field, name, 'has a budget per key, so a queue cannot use it', fix, 'OPTION_CONFLICT')
}

/**
 * The code of the queue uses the limit, but an override hides that. The next start with that code would fail.
 */
export function perKeyInCode(name: string, queue: string): JobmillError {
  const fix = `Deploy a release first in which queue ${quote(queue)} does not use this limit, or keep the limit without perKey`
  return perKeyOnQueue(name, `queues.${queue}.limit`, fix)
}

export function limitInUse(name: string, queue: string): JobmillError {
  const fix = 'Remove the limit from that queue first'
  return invalidValue('limit', name, `is used by the queue ${quote(queue)}`, fix, 'LIMIT_IN_USE')
}

export function instanceUnknown(id: string): JobmillError {
  const fix = { code: 'instance.list' } as const
  return invalidValue('id', id, 'no process has this id', fix, 'INSTANCE_UNKNOWN')
}

/**
 * The code of the queue uses the limit, but an override hides that. The next start with that code would fail.
 */
export function limitInCode(name: string, queue: string): JobmillError {
  const fix = 'Remove the limit from the code of that queue, deploy it, then delete the limit'
  return invalidValue('limit', name, `is set in the code of queue ${quote(queue)}`, fix, 'LIMIT_IN_USE')
}

/** `state`: how the instance ended, or `stopping` if it was asked to stop. */
export function instanceEnded(id: string, state: 'lost' | 'stopped' | 'stopping'): JobmillError {
  const problem =
    state === 'stopping'
      ? 'was asked to stop, which cannot be undone'
      : `has ended (${state}), and its jobs are back in their queues`
  const fix =
    state === 'stopping' ? 'Wait for it to stop, and start a new process' : 'Use the id of a running process'
  return invalidValue('id', id, problem, fix, 'INSTANCE_ENDED')
}

export function limitExists(name: string): JobmillError {
  const fix = { code: 'limit.change' } as const
  return invalidValue('name', name, 'a limit with this name already exists', fix, 'OPTION_CONFLICT')
}

/**
 * The error for a reset of a limit or schedule that code does not define, so there is no value to return to.
 */
export function notInCode(what: Overridable, name: string): JobmillError {
  const problem = 'was created at run time, so code has no value for it'
  const fix = `Change or delete it, or declare the ${what} in code first`
  return invalidValue(what, name, problem, fix, 'OPTION_CONFLICT')
}
