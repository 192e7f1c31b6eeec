/** The timeout, max attempts and backoff that apply to a job, and where each comes from. */
import { effectiveBackoff } from '../../job/attempt/backoff.ts'
import { BOUNDS, DEFAULTS } from '../../job/defaults.ts'
import { durationMs } from '../../job/duration.ts'
import { invalidValue } from '../../job/errors.ts'
import type { AnyJob } from '../../job/kind/definition.ts'
import { checkString } from '../../job/names.ts'
import { checkWhole } from '../../job/numbers.ts'
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from '../../job/queue/queue-settings.ts'
import type { JobView } from './job-view.ts'

/**
 * `payload`: a job that runs a program names its timeout there. `unknown`: this process does not define the
 * kind, so it does not know what the kind says.
 */
export const POLICY_SOURCES = ['job', 'kind', 'queue', 'payload', 'default', 'unknown'] as const
export type PolicySource = (typeof POLICY_SOURCES)[number]

export const BACKOFF_TYPES = ['exponential', 'fixed', 'function', 'off', 'unknown'] as const

export interface PolicyView {
  /** The timeout of one attempt. Null: none, or not known. */
  readonly timeout: { readonly ms: number | null; readonly from: PolicySource }
  readonly maxAttempts: { readonly attempts: number; readonly from: PolicySource }
  readonly backoff: {
    readonly type: (typeof BACKOFF_TYPES)[number]
    /** The delay before the first retry, and the longest one. Null where the type has none. */
    readonly baseMs: number | null
    readonly maxMs: number | null
    /** Whether a delay is random, between 0 and the backoff. */
    readonly isRandom: boolean
    readonly from: PolicySource
  }
}

export type PolicyJob = Pick<JobView, 'payload' | 'timeoutMs' | 'maxAttempts'>

/** Extra fields are fine: a job from `mill.get` has them. */
export function checkPolicyJob(job: unknown): void {
  if (typeof job !== 'object' || job === null)
    throw invalidValue('job', job, 'must be a job', 'Pass a job that mill.get returned')
  const { kind, queue, maxAttempts, timeoutMs } = job as Readonly<Record<string, unknown>>
  checkString(kind, 'job.kind')
  checkString(queue, 'job.queue')
  checkWhole(maxAttempts, 'job.maxAttempts', BOUNDS.maxAttempts)
  if (timeoutMs !== null) durationMs(timeoutMs, 'job.timeoutMs')
}

/** `kind` is the definition in this process, and `queue` the settings of the queue, where there are any. */
export function policyOf(
  job: PolicyJob,
  kind: AnyJob | undefined,
  queue: QueueSettings = DEFAULT_QUEUE_SETTINGS,
): PolicyView {
  return {
    timeout: timeoutOf(job, kind),
    maxAttempts: { attempts: job.maxAttempts, from: attemptsFrom(job, kind) },
    backoff: backoffOf(kind, queue),
  }
}

function timeoutOf({ timeoutMs, payload }: PolicyJob, kind: AnyJob | undefined): PolicyView['timeout'] {
  if (timeoutMs !== null) return { ms: timeoutMs, from: 'job' }
  if (kind === undefined) return { ms: null, from: 'unknown' }
  if (kind.hasOwnTimeout?.(payload) === true) return { ms: null, from: 'payload' }
  return kind.timeoutMs === undefined ? { ms: null, from: 'default' } : { ms: kind.timeoutMs, from: 'kind' }
}

/** A job stores the number when it is enqueued, but not where it came from. */
function attemptsFrom({ maxAttempts }: PolicyJob, kind: AnyJob | undefined): PolicySource {
  if (kind === undefined) return 'unknown'
  if (maxAttempts !== (kind.maxAttempts ?? DEFAULTS.maxAttempts)) return 'job'
  return kind.maxAttempts === undefined ? 'default' : 'kind'
}

function backoffOf(kind: AnyJob | undefined, queue: QueueSettings): PolicyView['backoff'] {
  const none = { baseMs: null, maxMs: null, isRandom: false }
  // Without the kind, only a queue with disabled backoff gives an answer.
  if (kind === undefined && queue.backoffEnabled) return { type: 'unknown', ...none, from: 'unknown' }
  const backoff = effectiveBackoff(kind?.backoff, queue)
  const from = kind?.backoff === undefined || backoff.type === 'off' ? 'queue' : 'kind'
  if (backoff.type === 'off' || backoff.type === 'function') return { type: backoff.type, ...none, from }
  const { type, baseMs, jitter } = backoff
  return {
    type,
    baseMs,
    maxMs: backoff.type === 'exponential' ? backoff.maxMs : null,
    isRandom: jitter === 'full',
    from,
  }
}
