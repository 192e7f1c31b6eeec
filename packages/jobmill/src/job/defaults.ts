/**
 * Every default and every bound in one place. docs/reference/defaults.md shows the same numbers; a test
 * compares the two.
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
  /** How long an upstream must accept calls before its throttle count resets. */
  throttleQuietMs: 2 * MINUTE,
  /** How long a throttled queue cools down if its backoff is off and the upstream gave no duration. */
  throttleFlatMs: MINUTE,
  retainDoneMs: 7 * DAY,
  retainCancelledMs: 7 * DAY,
  instanceLeaseMs: 10 * SECOND,
  renewEveryMs: 3 * SECOND,
  /** How long an ended instance stays visible. */
  keepEndedInstanceMs: HOUR,
  /**
   * How long the version of an ended instance is known, so that its attempts can show it, and the maximum
   * number of such instances.
   */
  keepVersionsMs: 90 * DAY,
  keepVersions: 20_000,
  crashesUntilDead: 3,
  /**
   * A job younger than this whose payload does not match the schema spends no attempt. Longer than a rolling
   * deploy takes.
   */
  unfitFreeMs: 15 * MINUTE,
  unfitPauseMs: 1 * SECOND,
  /** From this many crashes on, a job is quarantined: it is claimed alone. */
  crashesUntilAlone: 2,
  payloadLimitBytes: 1024 * 1024,
  /** Attempts kept per job, newest first. */
  historyPerJob: 32,
  errorLimitChars: 4_096,
  logLimitChars: 65_536,
  /** Events that may wait for slow listeners in a process; further ones are dropped and counted. */
  eventBuffer: 50_000,
  /** Workers per instance for a queue that sets no number. */
  workers: 10,
  /** How often an instance checks for jobs, cancels and changed settings without a notification. */
  heartbeatEveryMs: 640,
  /** The same while an instance is idle and notifications arrive; at most a quarter of the lease. */
  idleHeartbeatEveryMs: 2.5 * SECOND,
  /**
   * A job that is due within this time may be due before the next heartbeat of an idle instance, so writing
   * it sends a notification.
   */
  dueSoonMs: 3 * SECOND,
  /** How often an instance compares its running jobs with the leases in the database. */
  compareEveryMs: 10 * SECOND,
  /** How long an attempt of `commandJob` and `workerPool` may take. */
  childTimeoutMs: 10 * MINUTE,
  /** How long a child process may take to end after SIGTERM before it is killed. */
  childKillMs: 5 * SECOND,
  /** Child processes of a `workerPool`. */
  poolSize: 1,
  /** How long running jobs may continue after a stop before their signal is aborted. */
  graceMs: 25 * SECOND,
  /** How long after its signal was aborted a handler counts as stuck. */
  stuckAfterMs: 10 * SECOND,
  /** How long the first job of a chunk waits for others. */
  chunkWaitMs: 100,
  /** How often a process reads all of its awaited results, in one statement. */
  resultEveryMs: 200,
  /** How often progress and logs of running jobs are written, in one statement. */
  noteEveryMs: 500,
  /** The capacity of an instance that declares none, when workers are split. */
  capacity: 10,
  retainEveryMs: 5 * MINUTE,
  retainTicksMs: 30 * DAY,
  retainEventsMs: 30 * DAY,
  /** Metrics: buckets of 10 s, 1 min, 5 min and 1 h. */
  retainTenSecondsMs: 6 * HOUR,
  retainMinutesMs: 7 * DAY,
  retainFiveMinutesMs: 7 * DAY,
  retainHoursMs: 30 * DAY,
  /** How often open counter rows and metrics are rolled up, when there are any. */
  rollUpEveryMs: 15 * SECOND,
  /** How often the split of workers is checked when no change was reported. */
  rebalanceEveryMs: MINUTE,
  /** How often schedules are checked when none is due. */
  scheduleEveryMs: MINUTE,
  /** A tick that is served within this time was not missed. */
  scheduleLateMs: MINUTE,
  /** How far back `missed: 'all'` goes by default. */
  missedWithinMs: DAY,
  /** How often a process writes its metrics and events, when there are any. */
  flushEveryMs: 2 * SECOND,
  /** How often a process writes its own gauges. */
  gaugeEveryMs: 10 * SECOND,
  /** How often the leader compares the diagnostics with the alert rules, when there are any. */
  alertEveryMs: 15 * SECOND,
  /** The minimum time between messages about the same cause. */
  alertCoolDownMs: HOUR,
  /** How long a webhook may take to answer. */
  alertTimeoutMs: 10 * SECOND,
  /** Attempts to deliver an alert: over about an hour. */
  alertAttempts: 10,
  /** The default period of a rate. */
  limitPerMs: SECOND,
  /** How long a handler waits in place for a limit before its job is rescheduled. */
  limitWaitMs: SECOND,
  /** How far into the future a limit hands out places in line. */
  limitLineMs: MINUTE,
  /** How long one pass of a duty may take. */
  dutyDeadlineMs: 30 * SECOND,
  statementDeadlineMs: 30 * SECOND,
  /** Connections of a PostgreSQL store, in addition to the listening one. */
  connections: 4,
  /** How far a replica may be behind before the primary answers its reads. */
  replicaLagMs: 10 * SECOND,
  listScanRows: 50_000,
  listScanMs: SECOND,
})

export const BOUNDS = Object.freeze({
  nameChars: 128,
  keyChars: 512,
  tagChars: 100,
  /** The length of a key of a limit that counts each key separately. */
  limitKeyChars: 200,
  tags: 20,
  metadataBytes: 16 * 1024,
  /** Maximum nesting of arrays and objects in JSON: databases parse them recursively. */
  jsonDepth: 500,
  priority: Object.freeze({ least: -32_768, most: 32_767 }),
  maxAttempts: Object.freeze({ least: 1, most: 10_000 }),
  /** The version of a definition. An instance registers each version that it handles. */
  version: Object.freeze({ least: 1, most: 100 }),
  /** Each job of a chunk occupies a worker. */
  chunkSize: Object.freeze({ least: 2, most: 10_000 }),
  chunkWaitMs: Object.freeze({ least: 0, most: 60_000 }),
  workers: Object.freeze({ least: 0, most: 10_000 }),
  capacity: Object.freeze({ least: 1, most: 10_000 }),
  crashesUntilDead: Object.freeze({ least: 1, most: 1_000 }),
  /** Child processes of a `workerPool`, and the jobs that a child runs before it is replaced. */
  poolSize: Object.freeze({ least: 1, most: 256 }),
  recycleAfter: Object.freeze({ least: 1, most: 1_000_000_000 }),
  /** Connections of a PostgreSQL store. */
  connections: Object.freeze({ least: 1, most: 100 }),
  durationMs: 3_650 * DAY,
  /** The longest cool-down that an upstream can request. */
  retryAfterMs: DAY,
  /** The last instant at which a job can be due: 1 January 2200. */
  lastInstantAt: 7_258_118_400_000,
  claimLimit: 500,
  /** The share of a group, compared with the others. */
  groupWeight: Object.freeze({ least: 0.1, most: 100 }),
  /** The number of ended jobs that a queue can be set to keep. */
  keep: Object.freeze({ least: 0, most: 10_000_000 }),
  limit: Object.freeze({ least: 1, most: 1_000_000 }),
  /** The shortest period of a rate. A shorter one was almost always meant in another unit. */
  shortestPerMs: 100,
  /**
   * The shortest period and deadline of an application's duty. A shorter one was probably meant in another
   * unit.
   */
  shortestDutyMs: 100,
  /** The shortest pause between two passes of retention. A shorter one would be a busy loop. */
  shortestRetainMs: SECOND,
  /** The number of alert rules, and of the causes that one rule follows. */
  alerts: 100,
  alertCauses: 1_000,
  /** How many secrets sign the messages of a rule, and the bytes of each. */
  alertSecrets: 3,
  alertSecretBytes: Object.freeze({ least: 24, most: 64 }),
  /** The shortest cool-down of an alert rule. A shorter one was probably meant in another unit. */
  shortestCoolDownMs: 10 * SECOND,
  /** The number of saved views, and the length of the name and of the parameters of each. */
  views: 200,
  viewNameChars: 60,
  viewChars: 4_000,
  pageLimit: 500,
  /** The JSON and logs of the jobs on one page of a list that includes payloads or results. */
  pageBytes: 4 * 1024 * 1024,
  /** Values in the body of a request to the HTTP API: 1,000 jobs with 250 values each. */
  bodyValues: 250_000,
  /** The length of a search text for errors, or for payloads at a path. */
  soughtChars: 1_000,
  /** How many payload values one filter can name, and how many parts each path can have. */
  soughtValues: 5,
  soughtParts: 16,
  /** How many payload paths a kind can index, and the length of each path and of an indexed value. */
  indexedPaths: 5,
  indexedChars: 200,
  /** The length of the name of a step or an event, which idempotency keys contain. */
  stepNameChars: 200,
  /** The steps of a job, and the size of each result and of all results together. */
  steps: 10_000,
  stepBytes: 1024 * 1024,
  stepsBytes: 64 * 1024 * 1024,
  /** How many events one wait can name. */
  stepEvents: 20,
  jobsPerCall: 10_000,
  /** The jobs that one completion writes in its transaction. */
  jobsPerCompletion: 100_000,
  /** All payloads and metadata of one call together. */
  callBytes: 256 * 1024 * 1024,
  /** The write lock of the file is held while a call is written, and heartbeats need it. */
  sqliteCallBytes: 64 * 1024 * 1024,
})
