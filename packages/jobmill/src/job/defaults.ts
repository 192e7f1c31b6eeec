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
  /** How long a throttled queue cools down when its backoff is off and the upstream named no time. */
  throttleFlatMs: MINUTE,
  retainDoneMs: 7 * DAY,
  retainCancelledMs: 7 * DAY,
  instanceLeaseMs: 10 * SECOND,
  renewEveryMs: 3 * SECOND,
  /** How long an instance that ended stays visible. */
  keepEndedInstanceMs: HOUR,
  crashesUntilDead: 3,
  /** How old a job may be whose payload does not fit without spending an attempt: as long as a rolling deploy takes. */
  unfitFreeMs: 15 * MINUTE,
  unfitPauseMs: 1 * SECOND,
  /** From this many crashes on, a job is claimed alone. */
  crashesUntilAlone: 2,
  payloadLimitBytes: 1024 * 1024,
  /** Attempts kept per job, newest first. */
  historyPerJob: 32,
  errorLimitChars: 4_096,
  logLimitChars: 65_536,
  /** Events of a process that wait for slow listeners; more are dropped and counted. */
  eventBuffer: 50_000,
  /** Workers that each instance runs for a queue whose settings name no number. */
  workers: 10,
  /** How often an instance looks for work, cancels and changed settings when nothing wakes it. */
  pulseEveryMs: 640,
  /** How often an instance compares what it runs with what the database believes it runs. */
  compareEveryMs: 10 * SECOND,
  /** How long an attempt of `commandJob` and `workerPool` may take. */
  childTimeoutMs: 10 * MINUTE,
  /** How long running jobs may go on after a stop before they are told to end. */
  graceMs: 25 * SECOND,
  /** How long after it was told to end a handler counts as stuck. */
  stuckAfterMs: 10 * SECOND,
  /** How often all awaited results of a process are asked for, in one statement. */
  resultEveryMs: 200,
  /** How often progress and logs of running jobs are written, in one statement. */
  noteEveryMs: 500,
  /** What an instance that declares no capacity counts as when workers are split. */
  capacity: 10,
  retainEveryMs: 5 * MINUTE,
  retainTicksMs: 30 * DAY,
  retainEventsMs: 30 * DAY,
  /** Figures: buckets of 10 s, of 1 min, and of 1 h. */
  retainTenSecondsMs: 6 * HOUR,
  retainMinutesMs: 7 * DAY,
  retainHoursMs: 30 * DAY,
  /** How often open counter rows and figures are brought together, when there are any. */
  rollUpEveryMs: 15 * SECOND,
  /** How often the split of workers is looked at when nothing says that it changed. */
  rebalanceEveryMs: MINUTE,
  /** How often schedules are looked at when nothing is due. */
  scheduleEveryMs: MINUTE,
  /** A planned instant that is served within this time was not missed. */
  scheduleLateMs: MINUTE,
  /** How far back `missed: 'all'` goes unless it says. */
  missedWithinMs: DAY,
  /** How often figures and events of a process are written, when there are any. */
  flushEveryMs: 2 * SECOND,
  /** How often a process writes figures about itself. */
  gaugeEveryMs: 10 * SECOND,
  /** What a rate counts for unless it says. */
  limitPerMs: SECOND,
  /** How long a handler waits for a limit where it is, before its job is due again later. */
  limitWaitMs: SECOND,
  /** How far into the future places in the line of a limit are given. */
  limitLineMs: MINUTE,
  /** How long one pass of a duty may take. */
  dutyDeadlineMs: 30 * SECOND,
  statementDeadlineMs: 30 * SECOND,
  listScanRows: 50_000,
  listScanMs: SECOND,
})

export const BOUNDS = Object.freeze({
  nameChars: 128,
  keyChars: 512,
  tagChars: 100,
  /** Of a key of a limit that counts for each key by itself. */
  limitKeyChars: 200,
  tags: 20,
  metadataBytes: 16 * 1024,
  /** How deep arrays and objects may be nested in JSON: databases parse them by recursion. */
  jsonDepth: 500,
  priority: Object.freeze({ least: -32_768, most: 32_767 }),
  maxAttempts: Object.freeze({ least: 1, most: 10_000 }),
  workers: Object.freeze({ least: 0, most: 10_000 }),
  durationMs: 3_650 * DAY,
  /** The longest time an upstream can ask a queue to cool down for. */
  retryAfterMs: DAY,
  /** The last instant a job can be due: 1 January 2200. */
  lastInstantAt: 7_258_118_400_000,
  claimLimit: 500,
  /** How many ended jobs a queue can be told to keep. */
  keep: Object.freeze({ least: 0, most: 10_000_000 }),
  limit: Object.freeze({ least: 1, most: 1_000_000 }),
  pageLimit: 500,
  /** Of a text that is looked for in errors, or in payloads at a path. */
  soughtChars: 1_000,
  /** How many values in payloads one filter can name, and how long the path of each can be. */
  soughtValues: 5,
  soughtParts: 16,
  jobsPerCall: 10_000,
})
