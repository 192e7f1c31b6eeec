/**
 * Every default and every bound in one place. docs/reference/defaults.md shows the same figures;
 * a test compares the two.
 */

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

export const DEFAULTS = Object.freeze({
  queue: 'default',
  priority: 0,
  maxAttempts: 5,
  backoffBaseMs: 10 * SECOND,
  backoffMaxMs: 30 * MINUTE,
  /** How long a limiter must be quiet before its count is forgotten. */
  throttleQuietMs: 2 * MINUTE,
  retainDoneMs: 7 * DAY,
  retainCancelledMs: 7 * DAY,
  instanceLeaseMs: 10 * SECOND,
  renewEveryMs: 3 * SECOND,
  /** How long an instance that ended stays visible. */
  keepEndedInstanceMs: HOUR,
  crashesUntilDead: 3,
  /** From this many crashes on, a job is claimed alone. */
  crashesUntilAlone: 2,
  payloadLimitBytes: 1024 * 1024,
  /** Attempts kept per job, newest first. */
  historyPerJob: 32,
  errorLimitChars: 4_096,
  statementDeadlineMs: 30 * SECOND,
  listScanRows: 50_000,
  listScanMs: SECOND,
})

export const BOUNDS = Object.freeze({
  nameChars: 128,
  keyChars: 512,
  tagChars: 100,
  tags: 20,
  metadataBytes: 16 * 1024,
  /** How deep arrays and objects may be nested in JSON: databases parse them by recursion. */
  jsonDepth: 500,
  priority: Object.freeze({ least: -32_768, most: 32_767 }),
  maxAttempts: Object.freeze({ least: 1, most: 10_000 }),
  workers: Object.freeze({ least: 0, most: 10_000 }),
  durationMs: 3_650 * DAY,
  /** The last instant a job can be due: 1 January 2200. */
  lastInstantAt: 7_258_118_400_000,
  claimLimit: 500,
  pageLimit: 500,
  jobsPerCall: 10_000,
})
