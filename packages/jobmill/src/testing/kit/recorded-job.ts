/** A recorded job: everything an enqueue can set, with defaults filled in. */
import { DEDUPE_SCOPES, type Dedupe, type DedupeScope, type NewJob } from '../../job/enqueue/new-job.ts'
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
}

export interface RecordedDedupe extends Omit<Dedupe, 'key'> {
  readonly key: string
  readonly scope: DedupeScope
}

export function recordedJob(job: NewJob): RecordedJob {
  const { first: _first, ...rest } = job
  const dedupe = job.dedupe === null ? null : recordedDedupe(job.dedupe)
  return {
    ...rest,
    tags: withoutEntries(job.tags),
    payload: JSON.parse(job.payload) as unknown,
    metadata: job.metadata === null ? null : (JSON.parse(job.metadata) as Record<string, unknown>),
    dedupeKey: dedupe?.key ?? null,
    dedupe,
  }
}

/** Names have no spaces, so the first space of a stored key ends its scope. See `scopedKey`. */
function recordedDedupe({ key: stored, ...dedupe }: Dedupe): RecordedDedupe {
  const [first, ...rest] = stored.split(' ')
  const scope = DEDUPE_SCOPES.find((one) => one === first) ?? 'global'
  return { ...dedupe, scope, key: rest.slice(scope === 'global' ? 0 : 1).join(' ') }
}
