/** Describes a jobmill.bulk job: its action, its filter and its result. */
import type { Job } from '../../../api/types.ts'
import { instant, plural } from '../../../kit/text/format.ts'
import { actPhrase } from '../../jobs/actions/acts.ts'

type Fields = Readonly<Record<string, unknown>>

interface FilterWord {
  readonly name: string
  readonly value: string
}

export interface BulkReport {
  readonly looked: number
  readonly changed: number
  readonly refused: number
  /** With a patch: jobs that were left as they were, and where their payloads would be invalid. */
  readonly skipped: number
  readonly invalid: readonly InvalidPayloads[]
}

interface InvalidPayloads {
  /** A JSON pointer; empty for the whole payload. */
  readonly at: string
  readonly jobs: number
  readonly message: string
  /** The first of these jobs. */
  readonly id: string
}

export interface Bulk {
  readonly message: string
  readonly filter: readonly FilterWord[]
  readonly reason: string | null
  /** The merge patch of a retry; null without one. */
  readonly patch: Fields | null
  readonly by: string | null
  readonly report: BulkReport | null
  /** The job list with this filter; null when the Jobs page cannot express the filter. */
  readonly to: string | null
}

const VERBS: Readonly<Record<string, string>> = {
  retry: 'Retry',
  'run-now': 'Run now',
  cancel: 'Cancel',
  delete: 'Delete',
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function bulkOf({ payload, result, tags }: Pick<Job, 'payload' | 'result' | 'tags'>): Bulk | null {
  if (!isFields(payload) || !isFields(payload['filter'])) return null
  const { act, reason, filter, patch } = payload
  const given = Object.entries(filter).filter(([, value]) => value !== undefined && value !== null)
  // Every bulk action has this bound: jobs enqueued after the request are excluded.
  const isAll = given.every(([key]) => key === 'enqueuedBefore')
  const verb = VERBS[String(act)] ?? String(act)
  return {
    message: isAll
      ? actPhrase(verb, 'every job')
      : actPhrase(verb, 'ids' in filter ? 'selected jobs' : 'matching jobs'),
    filter: given.map(wordOf),
    patch: isFields(patch) ? patch : null,
    reason: typeof reason === 'string' ? reason : null,
    by: tags.find((tag) => tag.startsWith('by:'))?.slice('by:'.length) ?? null,
    report: reportOf(result),
    to: addressOf(given),
  }
}

const NAMES: Readonly<Record<string, string>> = {
  queue: 'Queue',
  kind: 'Kind',
  state: 'State',
  tags: 'Tags',
  enqueuedFrom: 'Enqueued from',
  enqueuedBefore: 'Enqueued before',
  payloadText: 'Payload contains',
  payloadAt: 'Payload',
  errorText: 'Error contains',
  fingerprint: 'Fingerprint',
  ids: 'Selected',
}

function wordOf([key, value]: readonly [string, unknown]): FilterWord {
  return { name: NAMES[key] ?? key, value: textOf(key, value) }
}

function textOf(key: string, value: unknown): string {
  if (key === 'ids' && Array.isArray(value)) return plural(value.length, 'job')
  if (typeof value === 'number' && key.startsWith('enqueued')) return instant(value)
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function reportOf(result: unknown): BulkReport | null {
  if (!isFields(result)) return null
  const { looked, changed, refused, skipped, invalid } = result
  if (typeof looked !== 'number' || typeof changed !== 'number' || typeof refused !== 'number') return null
  return {
    looked,
    changed,
    refused,
    skipped: typeof skipped === 'number' ? skipped : 0,
    invalid: Array.isArray(invalid) ? (invalid as InvalidPayloads[]) : [],
  }
}

const IN_ADDRESS = new Set([
  'queue',
  'kind',
  'state',
  'enqueuedFrom',
  'enqueuedBefore',
  'payloadText',
  'errorText',
])

function addressOf(given: readonly (readonly [string, unknown])[]): string | null {
  const search = new URLSearchParams()
  for (const [key, value] of given) {
    if (key === 'tags' && Array.isArray(value)) for (const tag of value) search.append('tag', String(tag))
    else if (IN_ADDRESS.has(key)) search.append(key, String(value))
    else return null
  }
  return `/jobs?${search.toString()}`
}
