/**
 * Validates job requests and turns them into jobs that a store writes. Every mistake is found before anything
 * is written. In a bulk call the error names the index, and no job of the call is written.
 */
import { BOUNDS, DEFAULTS } from '../defaults.ts'
import { type Duration, durationMs, instantAt, timeoutMs } from '../duration.ts'
import { invalidValue, JobmillError, OTHER, quote } from '../errors.ts'
import { jsonText } from '../text/json-text.ts'
import { checkObjectKeys } from '../options/known-keys.ts'
import { checkId, checkKey, checkName, NEW_ID_FIX } from '../names.ts'
import { checkArray, checkWhole } from '../numbers.ts'
import { checkDebounce, checkDedupe, type DebounceRequest, type DedupeRequest } from './dedupe-options.ts'
import type { NewJob } from './new-job.ts'

export interface JobRequest {
  /** The name of the handler that runs it, such as `email.send`. */
  readonly kind: string
  /** Any JSON value; null for an empty payload. */
  readonly payload: unknown
  /** Your own UUID: enqueuing it again is idempotent. Omitted: a new UUID version 7. */
  readonly id?: string
  /** The queue, created with its first job. Omitted: that of the kind, else of its route, else `default`. */
  readonly queue?: string
  /** Lower runs first. Omitted: that of the kind, else 0. */
  readonly priority?: number
  /** The job is dead after this many failed attempts. Omitted: that of the kind, else 5. */
  readonly maxAttempts?: number
  /** Due this long after the current time of the database. Cannot be combined with `runAt`. */
  readonly delay?: Duration
  /** Due at this instant; an instant in the past means now. */
  readonly runAt?: Date | number | string
  /** How long one attempt may take. Omitted: the timeout of the kind. */
  readonly timeout?: Duration
  /** Labels to filter lists by: up to 20 short strings. */
  readonly tags?: readonly string[]
  /** Stored with the job and never searched. */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** At most one job with this key at a time. */
  readonly dedupe?: DedupeRequest
  /** The job runs once, with the last payload, when no more such jobs are enqueued for a time. */
  readonly debounce?: DebounceRequest
  /** Jobs of one queue that share it run one at a time, in order (FIFO). */
  readonly orderKey?: string
  /**
   * The group of the job in its queue, such as a tenant. A queue with `groups` shares its workers fairly
   * between groups, or limits each group. Omitted: that of the kind, else none.
   */
  readonly group?: string
}

export interface PrepareOptions {
  readonly mintId: () => string
  readonly payloadLimitBytes?: number
  /** The name of the job at an index in errors (default `jobs[0]`). */
  readonly placeOf?: (index: number) => string
  /** The options that an error about an unknown option lists (default: the fields of `JobRequest`). */
  readonly listedOptions?: readonly string[]
  /** The index of the first of these jobs in its call (default 0), and the ids of the jobs before it. */
  readonly from?: number
  readonly seen?: Set<string>
}

const OPTION_KEYS = [
  'id',
  'queue',
  'priority',
  'maxAttempts',
  'delay',
  'runAt',
  'timeout',
  'tags',
  'metadata',
  'dedupe',
  'debounce',
  'orderKey',
  'group',
] as const satisfies readonly (keyof JobRequest)[]
const JOB_KEYS = ['kind', 'payload', ...OPTION_KEYS] as const satisfies readonly (keyof JobRequest)[]

/** What callers of `enqueue` pass as options, and of `enqueueMany` as items. */
export const ENQUEUE_OPTIONS: readonly string[] = [...OPTION_KEYS, 'dedupeKey', 'tx']
export const ITEM_OPTIONS: readonly string[] = ['payload', ...OPTION_KEYS, 'dedupeKey']

const PAYLOAD_LIMIT = { least: 1, most: Number.MAX_SAFE_INTEGER }

/** Prepares all jobs, or throws an error that names the first invalid one. */
export function prepareJobs(requests: readonly JobRequest[], options: PrepareOptions): NewJob[] {
  checkArray(requests, 'jobs', 'Pass an array of jobs, even for a single job')
  checkJobsPerCall(requests)
  const { mintId, from = 0, payloadLimitBytes = DEFAULTS.payloadLimitBytes, placeOf = placeInJobs } = options
  const { listedOptions = JOB_KEYS } = options
  checkWhole(payloadLimitBytes, 'payloadLimitBytes', PAYLOAD_LIMIT)
  const jobs: NewJob[] = []
  const seen = options.seen ?? (requests.length > 1 ? new Set<string>() : null)
  // A loop by index, because `map` would skip a hole in the array instead of refusing it.
  for (let at = 0; at < requests.length; at += 1) {
    const index = from + at
    try {
      const request = requests[at] as JobRequest
      checkObjectKeys(request, placeOf(index), JOB_KEYS, listedOptions)
      const job = prepareJob(request, placeOf(index), mintId, payloadLimitBytes)
      if (seen?.has(job.id) === true) throw repeated(job.id, placeOf(index))
      seen?.add(job.id)
      jobs.push(job)
    } catch (error) {
      throw withIndex(error, index)
    }
  }
  return jobs
}

export function checkJobsPerCall(requests: readonly unknown[]): void {
  if (requests.length <= BOUNDS.jobsPerCall) return
  const fix = 'Enqueue them in several calls'
  throw invalidValue('jobs', requests, `has more than ${BOUNDS.jobsPerCall} jobs`, fix)
}

const placeInJobs = (index: number): string => `jobs[${index}]`

/** Adds the position of the item, for callers that read fields instead of the message. */
function withIndex(error: unknown, index: number): unknown {
  if (error instanceof JobmillError) Object.defineProperty(error, 'index', { value: index, enumerable: true })
  return error
}

function repeated(id: string, at: string): JobmillError {
  const fix = 'Use a different id for each job, or omit the ids'
  return invalidValue(`${at}.id`, id, 'is duplicated in this call', fix, 'ID_REPEATED')
}

function prepareJob(
  request: JobRequest,
  at: string,
  mintId: () => string,
  payloadLimitBytes: number,
): NewJob {
  const kind = checkName(request.kind, `${at}.kind`)
  const queue = request.queue === undefined ? DEFAULTS.queue : checkName(request.queue, `${at}.queue`)
  if (request.payload === undefined) {
    const fix = 'Pass null if this job has no payload'
    throw invalidValue(`${at}.payload`, undefined, 'must not be undefined', fix, 'PAYLOAD_NOT_JSON')
  }
  const { priority = DEFAULTS.priority, maxAttempts = DEFAULTS.maxAttempts, debounce } = request
  const job = {
    id: request.id === undefined ? mintId() : checkId(request.id, `${at}.id`, NEW_ID_FIX),
    kind,
    queue,
    payload: jsonText(request.payload, `${at}.payload`, payloadLimitBytes),
    priority: checkWhole(priority, `${at}.priority`, BOUNDS.priority),
    maxAttempts: checkWhole(maxAttempts, `${at}.maxAttempts`, BOUNDS.maxAttempts),
    dueAt: request.runAt === undefined ? null : dueAt(request, request.runAt, at),
    delayMs: request.delay === undefined ? 0 : durationMs(request.delay, `${at}.delay`),
    timeoutMs: request.timeout === undefined ? null : timeoutMs(request.timeout, `${at}.timeout`),
    tags: request.tags === undefined ? [] : checkTags(request.tags, `${at}.tags`),
    metadata: request.metadata === undefined ? null : metadataText(request.metadata, `${at}.metadata`),
    dedupe:
      request.dedupe === undefined ? null : checkDedupe(request.dedupe, `${at}.dedupe`, { queue, kind }),
    orderKey: request.orderKey === undefined ? null : checkKey(request.orderKey, `${at}.orderKey`),
    group: request.group === undefined ? null : checkKey(request.group, `${at}.group`),
  }
  return debounce === undefined ? job : { ...job, ...checkDebounce(debounce, at, { ...request, kind }) }
}

function dueAt({ delay }: JobRequest, runAt: NonNullable<JobRequest['runAt']>, at: string): number {
  if (delay !== undefined) {
    throw new JobmillError('OPTION_CONFLICT', `cannot be combined with ${OTHER}`, {
      others: [`${at}.runAt`],
      field: `${at}.delay`,
      value: quote(delay),
      fix: { code: 'delay.or-run-at' },
    })
  }
  return instantAt(runAt, `${at}.runAt`)
}

function checkTags(value: unknown, field: string): string[] {
  const list = checkArray(value, field, 'Pass an array of strings')
  const given = Array.from(list, (tag, at) => checkKey(tag, `${field}[${at}]`, BOUNDS.tagChars))
  const tags = [...new Set(given)]
  if (tags.length <= BOUNDS.tags) return tags
  throw new JobmillError('OPTION_INVALID', `has more than ${BOUNDS.tags} tags`, {
    field,
    value: `${tags.length} tags`,
    fix: `Pass at most ${BOUNDS.tags} tags, and use metadata for values that no filter needs`,
  })
}

function metadataText(value: unknown, field: string): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidValue(field, value, 'must be an object', { code: 'metadata.object' })
  }
  return jsonText(value, field, BOUNDS.metadataBytes, 'Put it in the payload')
}
