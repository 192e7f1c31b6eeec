/** A recorded job: everything an enqueue can set, with defaults filled in. */
import { DEDUPE_SCOPES, type Dedupe, type DedupeScope, type NewJob } from '../../job/new-job.ts'

export interface RecordedJob<Payload = unknown> {
  readonly id: string
  readonly kind: string
  readonly queue: string
  /** After the conversion to JSON and back. */
  readonly payload: Payload
  readonly priority: number
  readonly maxAttempts: number
  /** The delay until it is due, or the given instant. */
  readonly delayMs: number
  readonly dueAt: number | null
  readonly timeoutMs: number | null
  readonly tags: readonly string[]
  readonly metadata: Readonly<Record<string, unknown>> | null
  readonly orderKey: string | null
  /** The key as given. The rest of `dedupe` is next to it. */
  readonly dedupeKey: string | null
  readonly dedupe: RecordedDedupe | null
}

export interface RecordedDedupe extends Omit<Dedupe, 'key'> {
  readonly key: string
  readonly scope: DedupeScope
}

export function recordedJob(job: NewJob): RecordedJob {
  const { id, kind, queue, priority, maxAttempts, delayMs, dueAt, timeoutMs, tags, orderKey } = job
  const dedupe = job.dedupe === null ? null : recordedDedupe(job.dedupe)
  return {
    id,
    kind,
    queue,
    payload: JSON.parse(job.payload) as unknown,
    priority,
    maxAttempts,
    delayMs,
    dueAt,
    timeoutMs,
    tags,
    metadata: job.metadata === null ? null : (JSON.parse(job.metadata) as Record<string, unknown>),
    orderKey,
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
