/** Validates the options `dedupe` and `debounce` of a job request, and converts them to the stored form. */
import { type Duration, durationMs, timeoutMs } from '../duration.ts'
import { invalidValue, JobmillError, OTHER, quote } from '../errors.ts'
import { checkKey } from '../names.ts'
import { checkObject, checkObjectKeys } from '../options/known-keys.ts'
import {
  debounceKey,
  DEDUPE_SCOPES,
  DEDUPE_UNTIL,
  type Dedupe,
  type DedupeScope,
  type DedupeUntil,
  type HoldAfter,
  HOLDS_AFTER,
  type NewJob,
  scopedKey,
} from './new-job.ts'

export interface DedupeRequest {
  /** At most one waiting or running job has this key. */
  readonly key: string
  /** Where the key must be unique: across all jobs, in this queue, or in this kind (default `global`). */
  readonly scope?: DedupeScope
  /** Also refuse duplicates for this long after the job is done (default 0). */
  readonly holdFor?: Duration
  /** `ended`: hold the key for `holdFor` even if the job is dead or cancelled (default `done`). */
  readonly holdAfter?: HoldAfter
  /**
   * Refuse duplicates for this long after the enqueue, whether or not the job has ended by then. Cannot be
   * combined with the options that depend on the end of the job.
   */
  readonly window?: Duration
  /**
   * `started`: the key is free once a worker has started the job, so an enqueue while it runs makes a new job
   * (default `ended`).
   */
  readonly until?: DedupeUntil
  /** `replace` gives a waiting job the new payload and due time (default `keep`). */
  readonly onConflict?: 'keep' | 'replace'
}

export interface DebounceRequest {
  /** Jobs of one kind with the same key are debounced together. */
  readonly key: string
  /** The job runs once this long has passed without another enqueue. Each one replaces the payload. */
  readonly wait: Duration
  /** The job runs at the latest this long after its first enqueue. Omitted: no limit. */
  readonly maxWait?: Duration
}

const DEBOUNCE_KEYS = ['key', 'wait', 'maxWait'] as const satisfies readonly (keyof DebounceRequest)[]

const DEDUPE_KEYS = [
  'key',
  'scope',
  'holdFor',
  'holdAfter',
  'window',
  'until',
  'onConflict',
] as const satisfies readonly (keyof DedupeRequest)[]

interface Names {
  readonly queue: string
  readonly kind: string
}

export function checkDedupe(value: DedupeRequest, field: string, names: Names): Dedupe {
  if (typeof value === 'string') checkObject(value, field, 'it as dedupeKey, or pass { key }')
  checkObjectKeys(value, field, DEDUPE_KEYS)
  const key = checkKey(value.key, `${field}.key`)
  const { scope = 'global', onConflict = 'keep' } = value
  if (!DEDUPE_SCOPES.includes(scope)) {
    const fix = 'Pass a scope, or omit it for global'
    throw invalidValue(`${field}.scope`, scope, `must be one of ${DEDUPE_SCOPES.join(', ')}`, fix)
  }
  if (onConflict !== 'keep' && onConflict !== 'replace') {
    const fix = 'Pass "replace" to update a waiting job, or omit it to keep that job'
    throw invalidValue(`${field}.onConflict`, onConflict, 'must be "keep" or "replace"', fix)
  }
  return { key: scopedKey(scope, key, names), onConflict, ...holdOf(value, field) }
}

function holdOf(value: DedupeRequest, field: string): Pick<Dedupe, 'holdMs' | 'holdAfter'> {
  const { window, until = 'ended', holdAfter = 'done' } = value
  if (!DEDUPE_UNTIL.includes(until)) {
    const fix = 'Pass "started" to free the key when the job starts, or omit it'
    throw invalidValue(`${field}.until`, until, `must be one of ${DEDUPE_UNTIL.join(', ')}`, fix)
  }
  if (window !== undefined) return { holdMs: windowMs(value, window, field), holdAfter: 'enqueued' }
  if (until === 'started') return { holdMs: untilStarted(value, until, field), holdAfter: 'started' }
  const holdMs = value.holdFor === undefined ? 0 : durationMs(value.holdFor, `${field}.holdFor`)
  checkHoldAfter(holdAfter, holdMs, field)
  return { holdMs, holdAfter }
}

function windowMs(value: DedupeRequest, window: Duration, field: string): number {
  const because = 'because the window starts at the enqueue and the first job wins'
  for (const other of ['holdFor', 'holdAfter', 'until'] as const)
    if (value[other] !== undefined) throw conflict(`${field}.window`, window, `${field}.${other}`, because)
  if (value.onConflict === 'replace')
    throw conflict(`${field}.window`, window, `${field}.onConflict`, because)
  return timeoutMs(window, `${field}.window`)
}

/** Returns the hold time, which is none. */
function untilStarted(value: DedupeRequest, until: DedupeUntil, field: string): 0 {
  const because = 'because the hold time starts when the job has ended, and the key is free before that'
  for (const other of ['holdFor', 'holdAfter'] as const)
    if (value[other] !== undefined) throw conflict(`${field}.until`, until, `${field}.${other}`, because)
  return 0
}

/** What conflicts with `debounce`, and why. */
const NOT_DEBOUNCED = {
  dedupe: 'because both decide what a repeated enqueue does',
  delay: 'because wait says when the job is due',
  runAt: 'because wait says when the job is due',
  orderKey: 'because each enqueue would move the job in its order queue',
} as const

type Debounced = Pick<NewJob, 'dedupe' | 'delayMs'>

/** A debounced job is due after the wait, and holds its key until then. */
export function checkDebounce(
  value: DebounceRequest,
  at: string,
  request: { readonly kind: string } & { readonly [Option in keyof typeof NOT_DEBOUNCED]?: unknown },
): Debounced {
  const field = `${at}.debounce`
  checkObjectKeys(value, field, DEBOUNCE_KEYS)
  for (const [other, because] of Object.entries(NOT_DEBOUNCED))
    if (request[other as keyof typeof NOT_DEBOUNCED] !== undefined)
      throw conflict(field, value, `${at}.${other}`, because)
  const key = debounceKey(request.kind, checkKey(value.key, `${field}.key`))
  const delayMs = timeoutMs(value.wait, `${field}.wait`)
  const holdMs = value.maxWait === undefined ? 0 : maxWaitMs(value.maxWait, delayMs, field)
  return { dedupe: { key, holdMs, holdAfter: 'due', onConflict: 'replace' }, delayMs }
}

function maxWaitMs(maxWait: Duration, waitMs: number, field: string): number {
  const ms = timeoutMs(maxWait, `${field}.maxWait`)
  if (ms >= waitMs) return ms
  throw new JobmillError('OPTION_CONFLICT', `must not be shorter than ${OTHER}`, {
    others: [`${field}.wait`],
    field: `${field}.maxWait`,
    value: quote(maxWait),
    fix: 'Raise it, or lower the wait',
  })
}

/** An error that names both options, and why they exclude each other. */
function conflict(field: string, value: unknown, other: string, because: string): JobmillError {
  return new JobmillError('OPTION_CONFLICT', `cannot be combined with ${OTHER}, ${because}`, {
    others: [other],
    field,
    value: quote(value),
    fix: 'Omit one of them',
  })
}

function checkHoldAfter(holdAfter: HoldAfter, holdMs: number, field: string): void {
  if (!HOLDS_AFTER.includes(holdAfter)) {
    const fix = 'Pass "ended" to hold the key however the job ends, or omit it'
    throw invalidValue(`${field}.holdAfter`, holdAfter, `must be one of ${HOLDS_AFTER.join(', ')}`, fix)
  }
  if (holdAfter === 'done' || holdMs > 0) return
  const fix = "Pass holdFor too, such as holdFor: '7d'"
  throw invalidValue(
    `${field}.holdAfter`,
    holdAfter,
    'requires a time to hold the key',
    fix,
    'OPTION_CONFLICT',
  )
}
