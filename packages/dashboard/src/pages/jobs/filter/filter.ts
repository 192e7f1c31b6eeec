/** Which jobs are looked for, as the page holds it. All of it has to be true of a job. */
import type { ListedState } from '../../../api/types/job.ts'
import type { When } from './when.ts'

export interface Filter {
  readonly queue: string | null
  readonly kind: string | null
  readonly state: ListedState | null
  readonly tags: readonly string[]
  /** When they were enqueued. */
  readonly after: When | null
  readonly before: When | null
  /** What their last error contains. */
  readonly error: string | null
  /** What their payload has at a path. A path is written as the API takes it: parts between dots; a dot, colon or backslash of a name with a backslash before it. */
  readonly payload: readonly { readonly path: string; readonly value: string }[]
  /** What their payload contains, as JSON text. */
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

/** A part of what was written that cannot be used, as it stands there. */
export interface Wrong {
  readonly part: string
  readonly says: string
  readonly fix: string
}

/** What is written before the colon; a path in the payload is `payload.user.id`. */
export const KEYS = ['queue', 'kind', 'state', 'tag', 'after', 'before', 'error'] as const

export const MOST_PAYLOAD = 5
export const MOST_TAGS = 20
export const MOST_CHARS = 1_000
