/** What stores say of schedules and limits that are not there, there already, or in use. */
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

export function limitInUse(name: string, queue: string): JobmillError {
  return new JobmillError('LIMIT_IN_USE', `the queue ${shown(queue)} draws on it`, {
    field: 'limit',
    value: shown(name),
    fix: 'Take it from that queue first',
  })
}
