/** The options of an inbox. Validation reports every problem by name. */
import { JobmillError, type Duration, type LogOption, type Platform } from 'jobmill'
import {
  checkBoolean,
  checkFunction,
  checkObjectKeys,
  checkPlatform,
  checkWhole,
  durationMs as anyDurationMs,
  loggerFor,
} from 'jobmill/internal'
import { quote } from 'jobmill/store'
import type { Tables } from 'jobmill-tables'
import type { BlobStore } from './blobs/blob-store.ts'
import { textMs } from './clean/duration.ts'
import type { BridgeOptions } from './inbox/receive/bridge.ts'
import type { FaultPoint } from './inbox/fault-points.ts'
import { LIMITS, type Limits, MOST_FILES } from './inbox/limits.ts'
import { invalid } from './invalid.ts'
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
  /** How long a file is kept if it is not acknowledged (default 24 h). */
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

/** The required parts, each with a method that identifies it. */
const PARTS = {
  tables: ['transaction', "the tables of openTables(address, { app: 'uploads', steps: STEPS })"],
  blobs: ['read', 'directoryBlobs(folder) or postgresBlobs(tables)'],
} as const satisfies Partial<Record<keyof UploadsOptions, readonly [method: string, given: string]>>

type Check = (value: unknown, field: string) => unknown

const whole =
  (least: number, most = Number.MAX_SAFE_INTEGER): Check =>
  (value, field) =>
    checkWhole(value, field, { least, most })

const quota: Check = (value, field) => value === null || whole(0)(value, field)

const duration =
  (leastMs: number): Check =>
  (value, field) =>
    durationMs(value, field, leastMs)

const CHECKS: Readonly<Record<Exclude<keyof UploadsOptions, keyof typeof PARTS>, Check>> = {
  maxFiles: whole(1, MOST_FILES),
  maxFileBytes: whole(1),
  maxRequestBytes: whole(1),
  quotaBytes: quota,
  quotaFiles: quota,
  uploadsAtOnce: whole(1),
  uploadsPerMailbox: whole(1),
  listenersAtOnce: whole(1),
  listenersPerMailbox: whole(1),
  expireAfter: duration(1),
  ackRetention: duration(0),
  stagingFor: duration(1_000),
  keysFor: duration(0),
  sweepEvery: duration(1_000),
  job: (value) => checkObjectKeys(value, 'job', ['kind', 'queue'] satisfies (keyof BridgeOptions)[]),
  metricsByMailbox: checkBoolean,
  onError: (value, field) =>
    checkFunction(value, field, 'Pass a function that takes an error and the name of the failed step'),
  log: (value) => loggerFor(value as LogOption),
  fault: (value, field) =>
    checkFunction(value, field, 'Pass a function that takes the name of a fault point'),
  platform: checkPlatform,
}

/** Refuses unknown options, so that a typo is never ignored. */
export function checkOptions(options: UploadsOptions): void {
  checkObjectKeys(options, '', [...Object.keys(PARTS), ...Object.keys(CHECKS)])
  checkParts(options)
  for (const [field, check] of Object.entries(CHECKS)) {
    const value = options[field as keyof UploadsOptions]
    if (value !== undefined) check(value, field)
  }
}

/** Reports every missing part at once. */
function checkParts(options: UploadsOptions): void {
  const problems = Object.entries(PARTS).flatMap(([option, [method, given]]) => {
    const value: unknown = options[option as keyof typeof PARTS]
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

/** Milliseconds, or text such as `90s` and `1h30m`. */
export function durationMs(value: unknown, field: string, leastMs = 0): number {
  // Text with a minus is a negative duration, not a malformed one.
  const isNegative = typeof value === 'string' && value.trim().startsWith('-')
  const ms = anyDurationMs(isNegative ? textMs(value) : value, field)
  if (ms >= leastMs) return ms
  throw invalid(field, value, 'is too short', `Pass at least ${leastMs} ms`, 'DURATION_INVALID')
}

/** The options, which were checked before, or the defaults. A duration is a limit whose name ends in Ms. */
export function resolveLimits(given: Partial<UploadsOptions>): Limits {
  const entries = Object.entries(LIMITS).map(([name, usual]) => {
    const option = name.replace(/Ms$/, '')
    const value = given[option as keyof UploadsOptions]
    if (value === undefined) return [name, usual] as const
    return [name, option === name ? value : durationMs(value, option)] as const
  })
  const limits = Object.fromEntries(entries) as unknown as Limits
  return Object.freeze({ ...limits, maxFileBytes: fileBytes(given.maxFileBytes, limits.maxRequestBytes) })
}

/** The default is lowered to what a request can carry; a setting above that is refused. */
function fileBytes(given: number | undefined, most: number): number {
  if (given === undefined) return Math.min(LIMITS.maxFileBytes, most)
  if (given <= most) return given
  const what = `must not exceed maxRequestBytes (${most})`
  throw invalid('maxFileBytes', given, what, 'Lower it, or raise maxRequestBytes', 'OPTION_CONFLICT')
}
