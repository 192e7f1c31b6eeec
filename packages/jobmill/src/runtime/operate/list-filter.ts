/** The filter of `list`, `count` and `bulk`: the filter of the store, plus several states and `retrying`. */
import { invalidValue, JobmillError } from '../../job/errors.ts'
import { BOUNDS } from '../../job/defaults.ts'
import { checkIndexedPath, entryOf, isEntry, isIndexable } from '../../job/payload/indexed.ts'
import { checkObject, checkObjectKeys } from '../../job/options/known-keys.ts'
import { checkArray, checkOneOf, checkWhole } from '../../job/numbers.ts'
import { stateHint } from '../../job/other-libraries/states-and-events.ts'
import { JOB_STATES, type JobState } from '../../job/state.ts'
import { checkPayloadAt, checkSought, type PayloadAt } from '../../store/payload-at.ts'
import type { JobFilter } from '../../store/types/job-list.ts'

const MOST_NAMES = 100
const INSTANT = { least: -BOUNDS.lastInstantAt, most: BOUNDS.lastInstantAt }

/** `retrying`: scheduled jobs whose last attempt failed. */
export const LISTED_STATES = [...JOB_STATES, 'retrying'] as const
export type ListedState = (typeof LISTED_STATES)[number]

/** What the store gets, apart from the state. */
type StoreFilter = Omit<JobFilter, 'state' | 'retrying'>

export interface ListFilter extends Omit<StoreFilter, 'byTag'> {
  /** One state or several. `retrying` means scheduled jobs whose last attempt failed. */
  readonly state?: ListedState | readonly ListedState[]
  /**
   * Jobs whose payload has all of these values at paths that their kind declares in `indexedPayload`. Reads
   * the index, newest id first, so it does not find jobs that were enqueued before the declaration.
   */
  readonly indexedPayload?: readonly PayloadAt[]
}

/** Splits a checked filter into its unique states and the rest. Undefined states mean all states. */
export function splitFilter(given: ListFilter): {
  readonly filter: StoreFilter
  readonly states: readonly ListedState[] | undefined
} {
  checkObject(given, 'filter', "{ queue: 'mail', state: 'dead' }")
  const { state, indexedPayload, ...filter } = given
  checkFilter(filter)
  const sought = indexedPayload === undefined ? {} : inIndex(indexedPayload, filter)
  return { filter: { ...filter, ...sought }, states: state === undefined ? undefined : statesIn(state) }
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
  throw invalidValue(field, state, 'is not a job state', fix)
}

function statesIn(state: ListedState | readonly ListedState[]): readonly ListedState[] {
  if (!Array.isArray(state)) return [checkState(state, 'filter.state')]
  if (state.length === 0) {
    const fix = 'Omit the filter to match all states'
    throw invalidValue('filter.state', state, 'must have at least one state', fix)
  }
  const each = state.map((one: unknown, at) => checkState(one, `filter.state[${at}]`))
  const states = [...new Set(each)]
  // Retrying jobs are scheduled too, and no job is listed twice.
  return states.includes('scheduled') ? states.filter((one) => one !== 'retrying') : states
}

/** The ranges of time in a filter: from included, before excluded. */
const INSTANTS = [
  'enqueuedFrom',
  'enqueuedBefore',
  'startedFrom',
  'startedBefore',
  'endedFrom',
  'endedBefore',
  'failedFrom',
  'failedBefore',
] as const satisfies readonly (keyof JobFilter)[]

/** Texts that are searched for, or compared. */
const TEXTS = [
  'orderKey',
  'group',
  'dedupeKey',
  'payloadText',
  'errorText',
] as const satisfies readonly (keyof JobFilter)[]

function checkFilter(filter: StoreFilter): void {
  checkObjectKeys(filter, 'filter', [
    'queue',
    'kind',
    'version',
    'state',
    'tags',
    ...INSTANTS,
    ...TEXTS,
    'payloadAt',
    'indexedPayload',
  ])
  checkNames(filter.queue, 'filter.queue')
  checkNames(filter.kind, 'filter.kind')
  checkNames(filter.version, 'filter.version')
  if (filter.tags !== undefined) checkTags(filter.tags)
  for (const instant of INSTANTS)
    if (filter[instant] !== undefined) checkWhole(filter[instant], `filter.${instant}`, INSTANT)
  if (filter.payloadAt !== undefined) checkPayloadAt(filter.payloadAt, 'filter.payloadAt')
  for (const text of TEXTS) if (filter[text] !== undefined) checkSought(filter[text], `filter.${text}`)
}

/** No job has more tags than this, so a filter with more would match nothing. */
function checkTags(given: readonly string[]): void {
  const tags = checkArray(given, 'filter.tags')
  if (tags.length > BOUNDS.tags) {
    throw new JobmillError('OPTION_INVALID', `has more than ${BOUNDS.tags} tags`, {
      field: 'filter.tags',
      value: `${tags.length} tags`,
      fix: `Pass at most ${BOUNDS.tags}`,
    })
  }
  tags.forEach((tag, at) => {
    const sought = checkSought(tag, `filter.tags[${at}]`)
    // Index entries are tags too, but searching payloads requires a higher role than filtering by tags.
    if (isEntry(sought))
      throw invalidValue(`filter.tags[${at}]`, tag, 'has a control character', 'Use printable text')
  })
}

/** The index entries are tags. The payload is compared too: another process may have changed it. */
function inIndex(given: readonly PayloadAt[], { tags = [], payloadAt = [] }: StoreFilter): StoreFilter {
  const sought = checkPayloadAt(given, 'filter.indexedPayload')
  if (sought.length === 0) return {}
  const entries = sought.map(({ path, value }, at) => {
    const field = `filter.indexedPayload[${at}]`
    const name = checkIndexedPath(path.join('.'), `${field}.path`)
    if (isIndexable(value)) return entryOf(name, value)
    const fix = 'Use payloadAt, which reads all payloads'
    throw invalidValue(`${field}.value`, value, `has more than ${BOUNDS.indexedChars} characters`, fix)
  })
  return { tags: [...entries, ...tags], byTag: true, payloadAt: [...payloadAt, ...sought] }
}

/** Accepts one name or several. Rejects an empty array, which could mean all jobs or none. */
function checkNames(names: unknown, field: string): void {
  if (names === undefined) return
  if (!Array.isArray(names)) return void checkSought(names, field)
  if (names.length === 0 || names.length > MOST_NAMES) {
    const fix = names.length === 0 ? 'Omit the filter to match all' : 'Use several calls'
    throw invalidValue(field, names, `must have 1 to ${MOST_NAMES} names`, fix)
  }
  names.forEach((name, at) => checkSought(name, `${field}[${at}]`))
}
