/** A recorded job: everything an enqueue can set, with defaults filled in. */
import {
  DEDUPE_SCOPES,
  type Dedupe,
  type DedupeScope,
  isDebounced,
  type NewJob,
} from '../../job/enqueue/new-job.ts'
import { withoutEntries } from '../../job/payload/indexed.ts'

export interface RecordedJob<Payload = unknown> extends Omit<
  NewJob,
  'payload' | 'metadata' | 'dedupe' | 'first'
> {
  /** After the conversion to JSON and back. */
  readonly payload: Payload
  readonly metadata: Readonly<Record<string, unknown>> | null
  /** The key without its scope; `dedupe` has it too, with the other options. */
  readonly dedupeKey: string | null
  readonly dedupe: RecordedDedupe | null
  readonly debounce: RecordedDebounce | null
}

/** The key without its kind. `maxWaitMs` is null for no limit. */
export interface RecordedDebounce {
  readonly key: string
  readonly waitMs: number
  readonly maxWaitMs: number | null
}

export interface RecordedDedupe extends Omit<Dedupe, 'key'> {
  readonly key: string
  readonly scope: DedupeScope
}

export function recordedJob(job: NewJob): RecordedJob {
  const { first: _first, ...rest } = job
  const isDebounce = isDebounced({ dedupeKey: job.dedupe?.key ?? null })
  const dedupe = job.dedupe === null || isDebounce ? null : recordedDedupe(job.dedupe)
  return {
    ...rest,
    tags: withoutEntries(job.tags),
    payload: JSON.parse(job.payload) as unknown,
    metadata: job.metadata === null ? null : (JSON.parse(job.metadata) as Record<string, unknown>),
    dedupeKey: dedupe?.key ?? null,
    dedupe,
    debounce: job.dedupe === null || !isDebounce ? null : recordedDebounce(job.dedupe, job.delayMs),
  }
}

function recordedDebounce({ key, holdMs }: Dedupe, waitMs: number): RecordedDebounce {
  return { key: key.split(' ').slice(2).join(' '), waitMs, maxWaitMs: holdMs === 0 ? null : holdMs }
}

/** Names have no spaces, so the first space of a stored key ends its scope. See `scopedKey`. */
function recordedDedupe({ key: stored, ...dedupe }: Dedupe): RecordedDedupe {
  const [first, ...rest] = stored.split(' ')
  const scope = DEDUPE_SCOPES.find((one) => one === first) ?? 'global'
  return { ...dedupe, scope, key: rest.slice(scope === 'global' ? 0 : 1).join(' ') }
}
