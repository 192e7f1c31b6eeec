/** Which jobs `list`, `count` and `bulk` are about: the filter of the store, with several states and `retrying`. */
import { JobmillError, shown } from '../job/errors.ts'
import { checkObject } from '../job/known-keys.ts'
import { checkOneOf } from '../job/numbers.ts'
import { JOB_STATES, type JobState } from '../job/state.ts'
import { checkFilter } from '../store/check-requests.ts'
import type { JobFilter } from '../store/job-list.ts'

/** `retrying`: scheduled jobs whose last attempt failed. */
export const LISTED_STATES = [...JOB_STATES, 'retrying'] as const
export type ListedState = (typeof LISTED_STATES)[number]

export interface ListFilter extends Omit<JobFilter, 'state' | 'retrying'> {
  /** In this state, or in any of these; `retrying` are scheduled jobs whose last attempt failed. */
  readonly state?: ListedState | readonly ListedState[]
}

/** The filter without its states, checked; and its states, each once. Undefined: jobs of all states. */
export function splitFilter(given: ListFilter): {
  readonly filter: Omit<JobFilter, 'state' | 'retrying'>
  readonly states: readonly ListedState[] | undefined
} {
  checkObject(given, 'filter', "{ queue: 'mail', state: 'dead' }")
  const { state, ...filter } = given
  checkFilter(filter)
  return { filter, states: state === undefined ? undefined : statesIn(state) }
}

/** One state as the store takes it. */
export function inState(state: ListedState): Pick<JobFilter, 'state' | 'retrying'> {
  return state === 'retrying' ? { state: 'scheduled', retrying: true } : { state }
}

/** The state that jobs of a listed state have. */
export function storedState(state: ListedState): JobState {
  return state === 'retrying' ? 'scheduled' : state
}

function statesIn(state: ListedState | readonly ListedState[]): readonly ListedState[] {
  if (!Array.isArray(state)) return [checkOneOf(state, 'filter.state', LISTED_STATES)]
  if (state.length === 0)
    throw new JobmillError('OPTION_INVALID', 'must have at least one state', {
      field: 'filter.state',
      value: shown(state),
      fix: 'Omit the filter to match all states',
    })
  const each = state.map((one: unknown, at) => checkOneOf(one, `filter.state[${at}]`, LISTED_STATES))
  const states = [...new Set(each)]
  // Jobs that wait for a retry are scheduled, and no job is listed twice.
  return states.includes('scheduled') ? states.filter((one) => one !== 'retrying') : states
}
