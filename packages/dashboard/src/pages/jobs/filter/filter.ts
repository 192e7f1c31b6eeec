/** The filter of the job list. A job must match every part. */
import type { ListedState } from '../../../api/types.ts'
import type { When } from './when.ts'

export interface Filter {
  readonly queue: string | null
  readonly kind: string | null
  readonly state: ListedState | null
  readonly tags: readonly string[]
  /** Enqueue time. */
  readonly after: When | null
  readonly before: When | null
  /** Text in the last error. */
  readonly error: string | null
  /**
   * Values at paths in the payload, in the API's notation: parts separated by dots, with a backslash before a
   * dot, colon or backslash in a name.
   */
  readonly payload: readonly { readonly path: string; readonly value: string }[]
  /** Text in the payload, as JSON. */
  readonly text: string | null
}

export const NO_FILTER: Filter = {
  queue: null,
  kind: null,
  state: null,
  tags: [],
  after: null,
  before: null,
  error: null,
  payload: [],
  text: null,
}

/** A part of the typed text that is invalid, as typed. */
export interface Wrong {
  readonly part: string
  readonly says: string
  readonly fix: string
}

/** The keys before a colon; a path in the payload is `payload.user.id`. */
export const KEYS = ['queue', 'kind', 'state', 'tag', 'after', 'before', 'error'] as const

export const MOST_PAYLOAD = 5
export const MOST_TAGS = 20
export const MOST_CHARS = 1_000
