/** The errors of steps, and the checks of their arguments. */
import { createHash } from 'node:crypto'
import { BOUNDS } from '../../job/defaults.ts'
import { invalidValue, JobmillError, quote } from '../../job/errors.ts'
import { Dead } from '../../job/attempt/thrown.ts'
import { checkKey } from '../../job/names.ts'
import type { Lease } from '../../store/types/claim.ts'

export function checkStepName(value: unknown, field = 'name'): string {
  return checkKey(value, field, BOUNDS.stepNameChars)
}

export function checkEventNames(value: unknown): readonly string[] {
  if (typeof value === 'string') return [checkStepName(value, 'event')]
  if (!Array.isArray(value) || value.length === 0 || value.length > BOUNDS.stepEvents) {
    const fix = `Pass one name, or an array of 1 to ${BOUNDS.stepEvents} names`
    throw invalidValue('event', value, 'must be the name of an event, or a list of names', fix)
  }
  return value.map((name, at) => checkStepName(name, `event[${at}]`))
}

/** At most 237 ASCII characters: services limit the length of idempotency keys to 255. */
export function idempotencyKey({ id }: Lease, name: string): string {
  const isPlain = /^[\u0020-\u007e]*$/.test(name)
  return `${id}:${isPlain ? name : createHash('sha256').update(name).digest('hex')}`
}

export function nameReused(name: string): JobmillError {
  const fix = 'Use each name once; in a loop, include the item, such as `fetch ${id}`'
  return invalidValue(
    'name',
    name,
    'this attempt already called a step with this name',
    fix,
    'STEP_NAME_REUSED',
  )
}

export function insideStep(name: string): JobmillError {
  const fix = 'Call it after the other step, or make it part of that step'
  return invalidValue('name', name, 'this step is called inside another step', fix, 'STEP_INVALID')
}

export function otherKind(name: string, was: string, is: string): JobmillError {
  const fix = 'Give the new step another name'
  const what = `this step was recorded as ${was}, and is now called as ${is}`
  return invalidValue('name', name, what, fix, 'STEP_INVALID')
}

export function afterComplete(name: string): JobmillError {
  const fix = 'Call the step before complete(tx)'
  return invalidValue('name', name, 'this step is called after complete(tx)', fix, 'STEP_INVALID')
}

export function endedAfterComplete(name: string): JobmillError {
  const fix = 'Await all steps before complete(tx)'
  return invalidValue('name', name, 'this step ended after complete(tx)', fix, 'STEP_INVALID')
}

export function holdsPermit(names: readonly string[]): JobmillError {
  const quoted = names.map((name) => quote(name)).join(', ')
  const steps = names.length === 1 ? `the step ${quoted} waits` : `the steps ${quoted} wait`
  const what = `${steps} while the attempt holds a permit of a concurrency limit`
  const fix = 'Release the permit before the wait, and acquire it again afterwards'
  return new JobmillError('STEP_HOLDS_RESOURCE', what, { fix })
}

export function tooManySteps({ id }: Lease): JobmillError {
  return new JobmillError('STEPS_TOO_MANY', `job ${id} has more than ${BOUNDS.steps} steps`, {
    fix: 'Process several items in one step, or enqueue a job for each part',
  })
}

export function tooManyBytes({ id }: Lease): JobmillError {
  const most = `${BOUNDS.stepsBytes / 2 ** 20} MiB`
  return new JobmillError('STEPS_TOO_MANY', `the results of the steps of job ${id} exceed ${most}`, {
    fix: 'Store large results elsewhere and return references to them',
  })
}

export function timedOut(name: string, ms: number): JobmillError {
  return new JobmillError('STEP_TIMED_OUT', `the step ${quote(name)} took longer than ${ms} ms`, {
    fix: 'Raise its timeout, or stop the work when the signal of the step aborts',
  })
}

/** Another attempt would read the same results. */
export function resultsTooLarge(name: string, children: number): Dead {
  const most = `${BOUNDS.stepBytes / 2 ** 20} MiB`
  const what = `the results of the ${children} children of step ${quote(name)} exceed ${most} together`
  return new Dead(`${what}. Return references to large results from the children`)
}

export function childWithKey(name: string): JobmillError {
  const what = `the children of the step ${quote(name)} have a dedupe key`
  return new JobmillError('STEP_INVALID', what, {
    fix: 'Use a kind without a dedupe key, because a step enqueues its children only once, or call enqueue',
  })
}

export function leaseLost({ id }: Lease): JobmillError {
  return new JobmillError('LEASE_LOST', `this attempt no longer holds the lease of job ${id}`, {
    fix: 'Do not catch this error: another process may already be running the job',
  })
}
