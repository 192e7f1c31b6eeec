/** The filter of `list`, `count` and `bulk`: the filter of the store, plus several states and `retrying`. */
import { JobmillError, quote } from '../../job/errors.ts'
import { checkObject } from '../../job/options/known-keys.ts'
import { checkOneOf } from '../../job/numbers.ts'
import { stateHint } from '../../job/other-libraries/states-and-events.ts'
import { JOB_STATES, type JobState } from '../../job/state.ts'
import { checkFilter } from '../../store/checks/check-requests.ts'
import type { JobFilter } from '../../store/types/job-list.ts'

/** `retrying`: scheduled jobs whose last attempt failed. */
export const LISTED_STATES = [...JOB_STATES, 'retrying'] as const
export type ListedState = (typeof LISTED_STATES)[number]

export interface ListFilter extends Omit<JobFilter, 'state' | 'retrying'> {
  /** One state or several. `retrying` means scheduled jobs whose last attempt failed. */
  readonly state?: ListedState | readonly ListedState[]
}

/** Splits a checked filter into its unique states and the rest. Undefined states mean all states. */
export function splitFilter(given: ListFilter): {
  readonly filter: Omit<JobFilter, 'state' | 'retrying'>
  readonly states: readonly ListedState[] | undefined
} {
  checkObject(given, 'filter', "{ queue: 'mail', state: 'dead' }")
  const { state, ...filter } = given
  checkFilter(filter)
  return { filter, states: state === undefined ? undefined : statesIn(state) }
}

/** One state in the form the store accepts. */
export function inState(state: ListedState): Pick<JobFilter, 'state' | 'retrying'> {
  return state === 'retrying' ? { state: 'scheduled', retrying: true } : { state }
}

/** The job state behind a listed state. */
export function storedState(state: ListedState): JobState {
  return state === 'retrying' ? 'scheduled' : state
}

/** Names the state to use instead of one of another library, such as `failed`. */
export function checkState(state: unknown, field: string): ListedState {
  const fix = stateHint(state)
  if (fix === undefined) return checkOneOf(state, field, LISTED_STATES)
  throw new JobmillError('OPTION_INVALID', 'is not a job state', { field, value: quote(state), fix })
}

function statesIn(state: ListedState | readonly ListedState[]): readonly ListedState[] {
  if (!Array.isArray(state)) return [checkState(state, 'filter.state')]
  if (state.length === 0)
    throw new JobmillError('OPTION_INVALID', 'must have at least one state', {
      field: 'filter.state',
      value: quote(state),
      fix: 'Omit the filter to match all states',
    })
  const each = state.map((one: unknown, at) => checkState(one, `filter.state[${at}]`))
  const states = [...new Set(each)]
  // Retrying jobs are scheduled too, and no job is listed twice.
  return states.includes('scheduled') ? states.filter((one) => one !== 'retrying') : states
}
