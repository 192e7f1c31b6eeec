/** What an inbox can be told, checked at once: every problem by its name. */
import { checkObjectKeys, JobmillError, type Duration, type LogOption, type Platform } from 'jobmill'
import type { Tables } from 'jobmill-tables'
import type { BlobStore } from './blobs/blob-store.ts'
import { textMs } from './clean/duration.ts'
import type { BridgeOptions } from './inbox/bridge.ts'
import type { FaultPoint } from './inbox/fault-points.ts'
import { LIMITS, type Limits, MOST_FILES } from './inbox/limits.ts'
import { shown } from './inbox/words.ts'
import type { Schema } from './tables/schema.ts'

export interface UploadsOptions {
  /** Of `openTables(address, { app: 'uploads', steps: STEPS })`. The inbox opens and closes them. */
  readonly tables: Tables<Schema>
  /** `directoryBlobs(folder)` or `postgresBlobs(tables)`. */
  readonly blobs: BlobStore
  /** The most files of one request (default 64, which is the most there is). */
  readonly maxFiles?: number
  /** Default 100 MiB. */
  readonly maxFileBytes?: number
  /** Default 256 MiB. */
  readonly maxRequestBytes?: number
  /** What a mailbox without a quota of its own may have (default 10 GiB); null for no bound. */
  readonly quotaBytes?: number | null
  /** Default 10,000; null for no bound. */
  readonly quotaFiles?: number | null
  /** How many uploads one process takes at a time (default 256). */
  readonly uploadsAtOnce?: number
  /** How many of them one mailbox may have, if it has no number of its own (default 16). */
  readonly uploadsPerMailbox?: number
  /** How many event streams and long polls one process keeps open (default 1,000). */
  readonly listenersAtOnce?: number
  /** How many of them one mailbox may have (default 32). */
  readonly listenersPerMailbox?: number
  /** How long a file waits for its acknowledgement (default 24 h). */
  readonly expireAfter?: Duration
  /** How long it is kept after it (default 1 h; 0: until the next sweep). */
  readonly ackRetention?: Duration
  /** After this an upload that never ended is cleaned up (default 1 h). One may take half of it. */
  readonly stagingFor?: Duration
  /** How long an idempotency key is known (default 24 h). */
  readonly keysFor?: Duration
  /** How often the sweep has a pass (default 5 min). */
  readonly sweepEvery?: Duration
  /** A job for each file that comes in. */
  readonly job?: BridgeOptions
  /** True: the gauges of what is pending are told by mailbox, for the 100 with the most bytes (default false: all together). */
  readonly metricsByMailbox?: boolean
  /** Hears of faults on our side (default: standard error). */
  readonly onError?: (error: unknown, what: string) => void
  /** For warnings, as `log` of `jobmill()` (default `warn`: on standard error). */
  readonly log?: LogOption
  /** For tests: called between any two steps. */
  readonly fault?: (point: FaultPoint) => void | Promise<void>
  readonly platform?: Platform
}

const KEYS: Readonly<Record<keyof UploadsOptions, true>> = {
  tables: true,
  blobs: true,
  maxFiles: true,
  maxFileBytes: true,
  maxRequestBytes: true,
  quotaBytes: true,
  quotaFiles: true,
  uploadsAtOnce: true,
  uploadsPerMailbox: true,
  listenersAtOnce: true,
  listenersPerMailbox: true,
  expireAfter: true,
  ackRetention: true,
  stagingFor: true,
  keysFor: true,
  sweepEvery: true,
  job: true,
  metricsByMailbox: true,
  onError: true,
  log: true,
  fault: true,
  platform: true,
}
const JOB_KEYS: Readonly<Record<keyof BridgeOptions, true>> = { kind: true, queue: true }

/** A typo is never ignored. */
export function checkOptions(options: UploadsOptions): void {
  checkObjectKeys(options, '', Object.keys(KEYS))
  checkParts(options)
  if (options.job !== undefined) checkObjectKeys(options.job, 'job', Object.keys(JOB_KEYS))
}

/** What the inbox cannot work without, and a method that tells it from anything else. */
const PARTS = [
  ['tables', 'transaction', "the tables of openTables(address, { app: 'uploads', steps: STEPS })"],
  ['blobs', 'read', 'directoryBlobs(folder) or postgresBlobs(tables)'],
] as const

/** Names every part that is missing at once. */
function checkParts(options: UploadsOptions): void {
  const problems = PARTS.flatMap(([option, method, given]) => {
    const value: unknown = options[option]
    if (typeof value === 'object' && value !== null && method in value) return []
    const isMissing = value === undefined
    const said = new JobmillError('OPTION_INVALID', isMissing ? 'is missing' : 'cannot be used', {
      field: option,
      ...(!isMissing && { value: shown(value) }),
      fix: `Pass ${given}`,
    })
    return [{ level: 'error', code: said.code, option, message: said.message }]
  })
  if (problems.length === 0) return
  const lines = problems.map(({ message }) => `\n  ${message}`).join('')
  throw new JobmillError('OPTIONS_INVALID', `the options of uploads() cannot be used:${lines}`, { problems })
}

interface Times {
  readonly expireAfter: Duration
  readonly ackRetention: Duration
  readonly stagingFor: Duration
  readonly keysFor: Duration
}

/** Milliseconds, or text such as `90s` and `1h30m`. */
export function durationMs(value: Duration, field: string, leastMs = 0): number {
  const ms = typeof value === 'number' ? value : textMs(value)
  if (Number.isFinite(ms) && ms >= leastMs && ms <= 10 * 366 * 86_400_000) return Math.round(ms)
  throw new JobmillError(
    'DURATION_INVALID',
    ms < 0 ? 'must not be negative' : 'is not a duration that can be used',
    {
      field,
      value: shown(value),
      fix:
        leastMs === 0
          ? "Pass milliseconds, or text with the units ms, s, m, h and d, such as '90s'; 0 is at once"
          : `Give at least ${leastMs} ms`,
    },
  )
}

type Numbers = Omit<UploadsOptions, 'tables' | 'blobs'>

export function resolveLimits(given: Numbers): Limits {
  const maxRequestBytes = whole(given, 'maxRequestBytes', 1)
  return Object.freeze({
    maxFiles: whole(given, 'maxFiles', 1, MOST_FILES),
    maxFileBytes: fileBytes(given, maxRequestBytes),
    maxRequestBytes,
    quotaBytes: given.quotaBytes === null ? null : whole(given, 'quotaBytes', 0),
    quotaFiles: given.quotaFiles === null ? null : whole(given, 'quotaFiles', 0),
    uploadsAtOnce: whole(given, 'uploadsAtOnce', 1),
    uploadsPerMailbox: whole(given, 'uploadsPerMailbox', 1),
    listenersAtOnce: whole(given, 'listenersAtOnce', 1),
    listenersPerMailbox: whole(given, 'listenersPerMailbox', 1),
    expireAfterMs: time(given, 'expireAfter', 1),
    ackRetentionMs: time(given, 'ackRetention', 0),
    stagingForMs: time(given, 'stagingFor', 1_000),
    keysForMs: time(given, 'keysFor', 0),
  })
}

/** Never more than a request can bring; where nobody said, as much as fits. */
function fileBytes(given: Numbers, most: number): number {
  const bytes = whole(given, 'maxFileBytes', 1)
  if (bytes <= most || given.maxFileBytes === undefined) return Math.min(bytes, most)
  throw new JobmillError(
    'OPTION_CONFLICT',
    `no request could bring such a file: maxRequestBytes is ${most}`,
    {
      field: 'maxFileBytes',
      value: shown(bytes),
      fix: 'Give at most that, or raise maxRequestBytes',
    },
  )
}

function time(given: Numbers, field: keyof Times, leastMs: number): number {
  const value = given[field]
  return value === undefined ? LIMITS[`${field}Ms`] : durationMs(value, field, leastMs)
}

type Number_ =
  | 'maxFiles'
  | 'maxFileBytes'
  | 'maxRequestBytes'
  | 'uploadsAtOnce'
  | 'uploadsPerMailbox'
  | 'listenersAtOnce'
  | 'listenersPerMailbox'
  | 'quotaBytes'
  | 'quotaFiles'

function whole(given: Numbers, field: Number_, least: number, most = Number.MAX_SAFE_INTEGER): number {
  const value = given[field] ?? LIMITS[field] ?? 0
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value
  throw new JobmillError('NUMBER_INVALID', 'is no whole number that can be used', {
    field,
    value: shown(value),
    fix: `Give ${least} to ${most}`,
  })
}
