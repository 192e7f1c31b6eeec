/**
 * The default and the bounds of each option, from the constants of the code. A key is the type of a section
 * and the path of an option.
 */
import { HTTP_DEFAULTS } from '../../../packages/server/src/options.ts'
import { PORTS } from '../../../packages/server/src/server/address.ts'
import { DEFAULT_TIMEOUT_MS } from '../../../packages/jobmill/src/client/call.ts'
import { BATCH_FROM } from '../../../packages/jobmill/src/store-postgres/claim/batches.ts'
import { BOUNDS, DEFAULTS } from '../../../packages/jobmill/src/job/defaults.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../packages/jobmill/src/job/queue/queue-settings.ts'
import { DEFAULT_DEFINITION } from '../../../packages/jobmill/src/job/schedule/schedule-options.ts'

/** Markdown, or the file whose code replaces an omitted option. */
type Default = string | { readonly in: string }

export interface Value {
  readonly default?: Default
  readonly bounds?: string
}

const TIMES = [
  ['days', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const

const number = (value: number): string => value.toLocaleString('en-US')

/** `90000` is `90 s`: the largest unit that gives a whole number. A day is 24 h, as in defaults.md. */
function time(ms: number): string {
  const [unit, size] = TIMES.find(
    ([unit, size]) => ms % size === 0 && ms >= size * (unit === 'days' ? 2 : 1),
  ) ?? ['ms', 1]
  return ms === 0 ? '0' : `${number(ms / size)} ${unit}`
}

function bytes(value: number): string {
  if (value % 1_048_576 === 0) return `${number(value / 1_048_576)} MiB`
  return value % 1_024 === 0 ? `${number(value / 1_024)} KiB` : `${number(value)} bytes`
}

const code = (value: unknown): string => `\`${String(value)}\``
const range = ({ least, most }: { readonly least: number; readonly most: number }): string =>
  `${number(least)} to ${number(most)}`
const upTo = (ms: number): string => `${time(ms)} to ${time(BOUNDS.durationMs)}`
const chars = (most: number): string => `1 to ${number(most)} characters`
/** Null means no maximum, or no end. */
const orNull = (value: number | null, otherwise: string, show: (value: number) => string): string =>
  value === null ? otherwise : show(value)

const DURATION = upTo(0)
const TIMEOUT = upTo(1)
const INSTANT = `1970 to ${new Date(BOUNDS.lastInstantAt - 1).getUTCFullYear()}`
const NAME = chars(BOUNDS.nameChars)
const KEY = chars(BOUNDS.keyChars)
const TAGS = `${number(BOUNDS.tags)} tags of ${number(BOUNDS.tagChars)} characters`
const POSITIVE = 'at least 1'
const NONE = 'none'
const OF_QUEUE = 'as in the queue'
const OF_KIND = 'as in the kind'

const SOURCES = 'packages/jobmill/src'
const inFile = (file: string): Value => ({ default: { in: `${SOURCES}/${file}` } })
const MILL = inFile('runtime/options/options.ts')
const DEDUPE = inFile('job/enqueue/dedupe-options.ts')
const SERVER = inFile('store-postgres/options.ts')
const COMMAND = inFile('work/handlers/command.ts')
const CHILD = inFile('work/handlers/child-options.ts')
const SCHEDULE = DEFAULT_DEFINITION
const QUEUE = DEFAULT_QUEUE_SETTINGS

const priority: Value = { default: number(DEFAULTS.priority), bounds: range(BOUNDS.priority) }
const maxAttempts: Value = { default: number(DEFAULTS.maxAttempts), bounds: range(BOUNDS.maxAttempts) }
const timeout: Value = { default: NONE, bounds: TIMEOUT }
const most: Value = { default: NONE, bounds: range(BOUNDS.keep) }
const forMs = (ms: number | null): Value => ({ default: orNull(ms, code('forever'), time), bounds: DURATION })
const perSecond = (value: number): Value => ({ default: number(value), bounds: POSITIVE })

const child = (type: string): Record<string, Value> => ({
  [`${type}.timeout`]: { default: time(DEFAULTS.childTimeoutMs), bounds: TIMEOUT },
  [`${type}.killAfter`]: { default: time(DEFAULTS.childKillMs), bounds: DURATION },
  [`${type}.env`]: CHILD,
  [`${type}.inheritEnv`]: CHILD,
})

export const VALUES: Readonly<Record<string, Value>> = {
  'MillOptions.route': { default: code(DEFAULTS.queue) },
  'MillOptions.capacity': { bounds: range(BOUNDS.capacity) },
  'MillOptions.lease': {
    default: time(DEFAULTS.instanceLeaseMs),
    bounds: `2 times \`renewEvery\` to ${time(BOUNDS.durationMs)}`,
  },
  'MillOptions.renewEvery': { default: time(DEFAULTS.renewEveryMs), bounds: DURATION },
  'MillOptions.grace': { default: time(DEFAULTS.graceMs), bounds: DURATION },
  'MillOptions.stuckAfter': { default: time(DEFAULTS.stuckAfterMs), bounds: DURATION },
  'MillOptions.crashesUntilDead': {
    default: number(DEFAULTS.crashesUntilDead),
    bounds: range(BOUNDS.crashesUntilDead),
  },
  'MillOptions.payloadLimitBytes': { default: bytes(DEFAULTS.payloadLimitBytes), bounds: POSITIVE },
  'MillOptions.log': inFile('runtime/options/log-option.ts'),
  'MillOptions.forwardJobLogs': MILL,
  'MillOptions.tracing': { default: NONE },
  'MillOptions.instance.label': { bounds: NAME },
  'MillOptions.instance.version': { bounds: NAME },
  'MillOptions.env': MILL,

  'QueueOptions.workers': {
    default: orNull(QUEUE.workers, `${number(DEFAULTS.workers)} per process`, number),
    bounds: range(BOUNDS.workers),
  },
  'QueueOptions.paused': { default: code(QUEUE.paused) },
  'QueueOptions.backoff.enabled': { default: code(QUEUE.backoffEnabled) },
  'QueueOptions.backoff.base': { default: time(QUEUE.backoffBaseMs), bounds: DURATION },
  'QueueOptions.backoff.max': { default: time(QUEUE.backoffMaxMs), bounds: DURATION },
  'QueueOptions.retain.done': forMs(QUEUE.retainDoneMs),
  'QueueOptions.retain.done.for': forMs(QUEUE.retainDoneMs),
  'QueueOptions.retain.done.most': most,
  'QueueOptions.retain.cancelled': forMs(QUEUE.retainCancelledMs),
  'QueueOptions.retain.cancelled.for': forMs(QUEUE.retainCancelledMs),
  'QueueOptions.retain.cancelled.most': most,
  'QueueOptions.retain.dead': forMs(QUEUE.retainDeadMs),
  'QueueOptions.retain.dead.for': forMs(QUEUE.retainDeadMs),
  'QueueOptions.retain.dead.most': most,
  'QueueOptions.limit': { default: NONE, bounds: NAME },
  'QueueOptions.targetLatency': { default: NONE, bounds: DURATION },
  'QueueGroups.fair': { default: code(QUEUE.groupFair) },
  'QueueGroups.concurrency': { default: NONE, bounds: range(BOUNDS.limit) },
  'QueueGroups.rate': { default: NONE, bounds: range(BOUNDS.limit) },
  'QueueGroups.per': { default: time(DEFAULTS.limitPerMs), bounds: upTo(BOUNDS.shortestPerMs) },

  'LimitOptions.rate': { bounds: range(BOUNDS.limit) },
  'LimitOptions.per': { default: time(DEFAULTS.limitPerMs), bounds: upTo(BOUNDS.shortestPerMs) },
  'LimitOptions.burst': { bounds: range(BOUNDS.limit) },
  'LimitOptions.perKey': { default: code(false) },
  'LimitOptions.concurrency': { bounds: range(BOUNDS.limit) },

  'AlertOptions.check': { default: 'every check' },
  'AlertOptions.queue': { default: NONE, bounds: NAME },
  'AlertOptions.kind': { default: NONE, bounds: NAME },
  'AlertOptions.for': { default: time(0), bounds: DURATION },
  'AlertOptions.coolFor': {
    default: time(DEFAULTS.alertCoolDownMs),
    bounds: upTo(BOUNDS.shortestCoolDownMs),
  },
  'AlertOptions.recovery': { default: code(true) },

  'ScheduleFields.name': { bounds: NAME },
  'ScheduleFields.zone': { default: code(SCHEDULE.zone) },
  'ScheduleFields.payload': inFile('job/schedule/schedule-options.ts'),
  'ScheduleFields.version': { ...inFile('job/schedule/schedule-options.ts'), bounds: 'at least 0' },
  'ScheduleFields.priority': { default: OF_KIND, bounds: range(BOUNDS.priority) },
  'ScheduleFields.queue': { default: OF_KIND, bounds: NAME },
  'ScheduleFields.maxAttempts': { default: OF_KIND, bounds: range(BOUNDS.maxAttempts) },
  'ScheduleFields.timeout': { default: OF_KIND, bounds: TIMEOUT },
  'ScheduleFields.tags': { default: NONE, bounds: TAGS },
  'ScheduleFields.jitter': { default: time(SCHEDULE.jitterMs), bounds: DURATION },
  'ScheduleFields.start': { default: NONE, bounds: INSTANT },
  'ScheduleFields.end': { default: NONE, bounds: INSTANT },
  'ScheduleFields.missed': { default: code(SCHEDULE.missed) },
  'ScheduleFields.missed.all': { default: time(SCHEDULE.missedWithinMs), bounds: DURATION },
  'ScheduleFields.overlap': { default: code(SCHEDULE.overlap) },
  'ScheduleFields.paused': { default: code(SCHEDULE.paused) },

  'OwnDuty.name': { bounds: NAME },
  'OwnDuty.every': { bounds: upTo(BOUNDS.shortestDutyMs) },
  'OwnDuty.deadline': { default: time(DEFAULTS.dutyDeadlineMs), bounds: upTo(BOUNDS.shortestDutyMs) },
  'OwnDuty.forAll': inFile('runtime/options/duty-options.ts'),

  'RetainOptions.every': { default: time(DEFAULTS.retainEveryMs), bounds: upTo(BOUNDS.shortestRetainMs) },
  'RetainOptions.events': forMs(DEFAULTS.retainEventsMs),
  'RetainOptions.ticks': forMs(DEFAULTS.retainTicksMs),
  'RetainOptions.metrics': forMs(DEFAULTS.retainHoursMs),

  'WithSchema.kind': { bounds: NAME },
  'WithSchema.payload': { default: NONE },
  'WithSchema.result': { default: NONE },
  'WithSchema.queue': { bounds: NAME },
  'WithSchema.priority': priority,
  'JobHandler.version': { bounds: range(BOUNDS.version) },
  'ChunkOptions.size': { bounds: range(BOUNDS.chunkSize) },
  'ChunkOptions.wait': {
    default: time(DEFAULTS.chunkWaitMs),
    bounds: `at most ${time(BOUNDS.chunkWaitMs.most)}`,
  },
  'WithSchema.maxAttempts': maxAttempts,
  'WithSchema.timeout': timeout,
  'WithSchema.backoff': { default: OF_QUEUE },
  'WithSchema.backoff.fixed': { bounds: DURATION },
  'WithSchema.backoff.base': { default: OF_QUEUE, bounds: DURATION },
  'WithSchema.backoff.max': { default: OF_QUEUE, bounds: DURATION },

  'WriteOptions.queue': { default: OF_KIND, bounds: NAME },
  'WriteOptions.priority': { default: OF_KIND, bounds: range(BOUNDS.priority) },
  'WriteOptions.maxAttempts': { default: OF_KIND, bounds: range(BOUNDS.maxAttempts) },
  'WriteOptions.delay': { default: '0', bounds: DURATION },
  'WriteOptions.runAt': { default: 'now', bounds: INSTANT },
  'WriteOptions.timeout': { default: OF_KIND, bounds: TIMEOUT },
  'WriteOptions.tags': { default: NONE, bounds: TAGS },
  'WriteOptions.metadata': { default: NONE, bounds: `up to ${bytes(BOUNDS.metadataBytes)} as JSON` },
  'WriteOptions.dedupe': { default: NONE },
  'WriteOptions.dedupe.key': { bounds: KEY },
  'WriteOptions.dedupe.scope': DEDUPE,
  'WriteOptions.dedupe.holdFor': { default: '0', bounds: DURATION },
  'WriteOptions.dedupe.holdAfter': DEDUPE,
  'WriteOptions.dedupe.window': { default: NONE, bounds: TIMEOUT },
  'WriteOptions.dedupe.until': DEDUPE,
  'WriteOptions.dedupe.onConflict': DEDUPE,
  'WriteOptions.debounce': { default: NONE },
  'WriteOptions.debounce.key': { bounds: KEY },
  'WriteOptions.debounce.wait': { bounds: TIMEOUT },
  'WriteOptions.debounce.maxWait': { default: 'no limit', bounds: TIMEOUT },
  'WriteOptions.dedupeKey': { default: NONE, bounds: KEY },
  'WriteOptions.orderKey': { default: NONE, bounds: KEY },

  'RunOptions.cancelOnTimeout': inFile('enqueue/run.ts'),
  'RunOptions.timeout': { default: NONE, bounds: DURATION },
  'ResultOptions.timeout': { default: NONE, bounds: DURATION },
  'StopOptions.grace': { default: 'the option `grace` of `jobmill()`', bounds: DURATION },

  'SqliteOptions.durability': inFile('store-sqlite/sqlite.ts'),
  'SqliteOptions.busyDeadline': { default: time(DEFAULTS.statementDeadlineMs), bounds: DURATION },

  'PostgresOptions.schema': SERVER,
  'PostgresOptions.batchFrom': { default: number(BATCH_FROM) },
  'PostgresOptions.connections': {
    default: number(DEFAULTS.connections),
    bounds: range(BOUNDS.connections),
  },
  'PostgresOptions.deadline': { default: time(DEFAULTS.statementDeadlineMs), bounds: DURATION },
  'PostgresOptions.namedStatements': SERVER,

  'HttpOptions.insecure': { default: { in: 'packages/server/src/server/serve.ts' } },
  'HttpOptions.page': { default: code(true) },
  'HttpOptions.frameAncestors': { default: NONE },
  'HttpOptions.redact': { default: code('SECRET_KEYS') },
  'HttpOptions.maxBodyBytes': { default: bytes(HTTP_DEFAULTS.maxBodyBytes), bounds: POSITIVE },
  'HttpOptions.maxBodiesBytes': {
    default: `${HTTP_DEFAULTS.maxBodies} times \`maxBodyBytes\``,
    bounds: 'at least `maxBodyBytes`',
  },
  'HttpOptions.streamsPerCaller': perSecond(HTTP_DEFAULTS.streamsPerCaller),
  'HttpOptions.maxStreams': perSecond(HTTP_DEFAULTS.maxStreams),
  'HttpOptions.requestsPerSecond': perSecond(HTTP_DEFAULTS.requestsPerSecond),
  'HttpOptions.anonymousPerSecond': perSecond(HTTP_DEFAULTS.anonymousPerSecond),
  'HttpOptions.onError': { default: 'standard error' },
  'ServeOptions.port': { default: String(HTTP_DEFAULTS.port), bounds: range(PORTS) },
  'ServeOptions.bind': { default: code(HTTP_DEFAULTS.bind) },

  'ClientOptions.fetch': { default: 'the global `fetch`' },
  'ClientOptions.timeoutMs': { default: time(DEFAULT_TIMEOUT_MS) },

  'CommandOptions.kind': { ...COMMAND, bounds: NAME },
  'CommandOptions.payloadEnv': COMMAND,
  ...child('CommandOptions'),
  'WorkerPoolOptions.kind': { bounds: NAME },
  'WorkerPoolOptions.size': { default: number(DEFAULTS.poolSize), bounds: range(BOUNDS.poolSize) },
  'WorkerPoolOptions.recycleAfter': { default: 'never', bounds: range(BOUNDS.recycleAfter) },
  ...child('WorkerPoolOptions'),
}
