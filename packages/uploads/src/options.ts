/** The options of an inbox. Validation reports every problem by name. */
import { JobmillError, type Duration, type LogOption, type Platform } from 'jobmill'
import { checkBoolean, checkFunction, checkObjectKeys, checkPlatform } from 'jobmill/internal'
import type { Tables } from 'jobmill-tables'
import type { BlobStore } from './blobs/blob-store.ts'
import { textMs } from './clean/duration.ts'
import type { BridgeOptions } from './inbox/receive/bridge.ts'
import type { FaultPoint } from './inbox/fault-points.ts'
import { LIMITS, type Limits, MOST_FILES } from './inbox/limits.ts'
import { quote } from './inbox/words.ts'
import type { Schema } from './tables/schema.ts'

export interface UploadsOptions {
  /**
   * From `openTables(address, { app: 'uploads', steps: STEPS })`. The inbox opens them; close them after
   * `stop`.
   */
  readonly tables: Tables<Schema>
  /** `directoryBlobs(folder)` or `postgresBlobs(tables)`. */
  readonly blobs: BlobStore
  /** Maximum files per request (default 64, which is also the upper bound). */
  readonly maxFiles?: number
  /** Default 100 MiB. */
  readonly maxFileBytes?: number
  /** Default 256 MiB. */
  readonly maxRequestBytes?: number
  /** The quota of a mailbox without its own (default 10 GiB); null for unlimited. */
  readonly quotaBytes?: number | null
  /** Default 10,000; null for unlimited. */
  readonly quotaFiles?: number | null
  /** Maximum parallel uploads per process (default 256). */
  readonly uploadsAtOnce?: number
  /** Maximum parallel uploads per mailbox, unless the mailbox has its own limit (default 16). */
  readonly uploadsPerMailbox?: number
  /** Maximum open event streams and long polls per process (default 1,000). */
  readonly listenersAtOnce?: number
  /** Maximum open event streams and long polls per mailbox (default 32). */
  readonly listenersPerMailbox?: number
  /** How long a file waits for its acknowledgement (default 24 h). */
  readonly expireAfter?: Duration
  /** How long a file is kept after its acknowledgement (default 1 h; 0: until the next sweep). */
  readonly ackRetention?: Duration
  /** When an unfinished upload is cleaned up (default 1 h). An upload may take half of this. */
  readonly stagingFor?: Duration
  /** How long an idempotency key is remembered (default 24 h). */
  readonly keysFor?: Duration
  /** The interval of the sweep (default 5 min). */
  readonly sweepEvery?: Duration
  /** Enqueues a job for each new file. */
  readonly job?: BridgeOptions
  /**
   * True: reports the gauges of pending files per mailbox, for the 100 with the most bytes (default false: in
   * total).
   */
  readonly metricsByMailbox?: boolean
  /** Receives internal faults (default: prints to standard error). */
  readonly onError?: (error: unknown, what: string) => void
  /** For warnings, as `log` of `jobmill()` (default `warn`, on standard error). */
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

/** Refuses unknown options, so that a typo is never ignored. */
export function checkOptions(options: UploadsOptions): void {
  checkObjectKeys(options, '', Object.keys(KEYS))
  checkParts(options)
  const { job, metricsByMailbox, onError, fault, platform } = options
  if (job !== undefined) checkObjectKeys(job, 'job', Object.keys(JOB_KEYS))
  if (metricsByMailbox !== undefined) checkBoolean(metricsByMailbox, 'metricsByMailbox')
  if (onError !== undefined)
    checkFunction(onError, 'onError', 'Pass a function that takes an error and the name of the failed step')
  if (fault !== undefined)
    checkFunction(fault, 'fault', 'Pass a function that takes the name of a fault point')
  if (platform !== undefined) checkPlatform(platform)
}

/** The required parts, each with a method that identifies it. */
const PARTS = [
  ['tables', 'transaction', "the tables of openTables(address, { app: 'uploads', steps: STEPS })"],
  ['blobs', 'read', 'directoryBlobs(folder) or postgresBlobs(tables)'],
] as const

/** Reports every missing part at once. */
function checkParts(options: UploadsOptions): void {
  const problems = PARTS.flatMap(([option, method, given]) => {
    const value: unknown = options[option]
    if (typeof value === 'object' && value !== null && method in value) return []
    const isMissing = value === undefined
    const said = new JobmillError('OPTION_INVALID', isMissing ? 'is missing' : 'is invalid', {
      field: option,
      ...(!isMissing && { value: quote(value) }),
      fix: `Pass ${given}`,
    })
    return [{ level: 'error', code: said.code, option, message: said.message }]
  })
  if (problems.length === 0) return
  const lines = problems.map(({ message }) => `\n  ${message}`).join('')
  throw new JobmillError('OPTIONS_INVALID', `invalid options of uploads():${lines}`, { problems })
}

interface Times {
  readonly expireAfter: Duration
  readonly ackRetention: Duration
  readonly stagingFor: Duration
  readonly keysFor: Duration
}

/** Milliseconds, or text such as `90s` and `1h30m`. */
export function durationMs(value: Duration, field: string, leastMs = 0): number {
  const ms = typeof value === 'number' ? value : typeof value === 'string' ? textMs(value) : Number.NaN
  if (Number.isFinite(ms) && ms >= leastMs && ms <= 10 * 366 * 86_400_000) return Math.round(ms)
  throw new JobmillError('DURATION_INVALID', ms < 0 ? 'must not be negative' : 'must be a duration', {
    field,
    value: quote(value),
    fix:
      leastMs === 0
        ? "Pass milliseconds, or text with the units ms, s, m, h and d, such as '90s'; 0 means immediately"
        : `Pass at least ${leastMs} ms`,
  })
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

/** The default is lowered to what a request can carry; a setting above that is refused. */
function fileBytes(given: Numbers, most: number): number {
  const bytes = whole(given, 'maxFileBytes', 1)
  if (bytes <= most || given.maxFileBytes === undefined) return Math.min(bytes, most)
  throw new JobmillError('OPTION_CONFLICT', `must not exceed maxRequestBytes (${most})`, {
    field: 'maxFileBytes',
    value: quote(bytes),
    fix: 'Lower it, or raise maxRequestBytes',
  })
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
  const value = given[field] === undefined ? (LIMITS[field] ?? 0) : given[field]
  if (value !== null && Number.isSafeInteger(value) && value >= least && value <= most) return value
  throw new JobmillError('NUMBER_INVALID', 'must be a whole number', {
    field,
    value: quote(value),
    fix: `Pass ${least} to ${most}`,
  })
}
