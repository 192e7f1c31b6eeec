/** The filter of the job list. A job must match every part. */
import type { ListedState } from '../../../api/types.ts'
import type { When } from './when.ts'

/** Keys with a name or a text: the parameter of the API, and the label of the chip. */
export const TEXTS = {
  queue: { parameter: 'queue', label: 'queue' },
  kind: { parameter: 'kind', label: 'kind' },
  error: { parameter: 'errorText', label: 'error contains' },
  version: { parameter: 'version', label: 'version' },
  order: { parameter: 'orderKey', label: 'order key' },
  group: { parameter: 'group', label: 'group' },
  dedupe: { parameter: 'dedupeKey', label: 'dedupe key' },
} as const
export type TextKey = keyof typeof TEXTS
export const TEXT_KEYS = Object.keys(TEXTS) as readonly TextKey[]

/** Keys with a time. The last attempt counts for starts, and the last failed attempt for failures. */
export const TIMES = {
  after: { parameter: 'enqueuedFrom', label: 'enqueued', side: 'after' },
  before: { parameter: 'enqueuedBefore', label: 'enqueued', side: 'before' },
  'failed-after': { parameter: 'failedFrom', label: 'failed', side: 'after' },
  'failed-before': { parameter: 'failedBefore', label: 'failed', side: 'before' },
  'started-after': { parameter: 'startedFrom', label: 'started', side: 'after' },
  'started-before': { parameter: 'startedBefore', label: 'started', side: 'before' },
  'ended-after': { parameter: 'endedFrom', label: 'ended', side: 'after' },
  'ended-before': { parameter: 'endedBefore', label: 'ended', side: 'before' },
} as const
export type TimeKey = keyof typeof TIMES
export const TIME_KEYS = Object.keys(TIMES) as readonly TimeKey[]

export interface Filter
  extends Readonly<Record<TextKey, string | null>>, Readonly<Record<TimeKey, When | null>> {
  readonly state: ListedState | null
  readonly tags: readonly string[]
  /**
   * Values at paths in the payload, in the API's notation: parts separated by dots, with a backslash before a
   * dot, colon or backslash in a name.
   */
  readonly payload: readonly PayloadValue[]
  /** Search all payloads, although the index has the path. */
  readonly readsAll: boolean
  /** Text in the payload, as JSON. */
  readonly text: string | null
}

export interface PayloadValue {
  readonly path: string
  readonly value: string
  /** The server looks it up in the index of a declared path. See `withIndex`. */
  readonly isIndexed?: true
}

/** One value for each of these keys. */
export function recordOf<Key extends string, T>(keys: readonly Key[], of: (key: Key) => T): Record<Key, T> {
  return Object.fromEntries(keys.map((key) => [key, of(key)])) as Record<Key, T>
}

export const NO_FILTER: Filter = {
  ...recordOf(TEXT_KEYS, () => null),
  ...recordOf(TIME_KEYS, () => null),
  state: null,
  tags: [],
  payload: [],
  readsAll: false,
  text: null,
}

/** A part of the typed text that is invalid, as typed. */
export interface Wrong {
  readonly part: string
  readonly says: string
  readonly fix: string
}

/** The keys before a colon; a path in the payload is `payload.user.id`. The most common ones first. */
export const KEYS: readonly (TextKey | TimeKey | 'state' | 'tag')[] = [
  'queue',
  'kind',
  'state',
  'tag',
  'error',
  ...TIME_KEYS,
  'version',
  'order',
  'group',
  'dedupe',
]

export const isTimeKey = (key: string): key is TimeKey => Object.hasOwn(TIMES, key)

export const MOST_PAYLOAD = 5
export const MOST_TAGS = 20
export const MOST_CHARS = 1_000
