/**
 * Names and values of other libraries, mostly BullMQ, and what to write here instead. Shows numbers of the
 * caller and never other values, which may be secrets.
 */
import { durationText } from './duration.ts'

type Given = Readonly<Record<string, unknown>>
type Hint = (options: Given) => string

/** Option names of other libraries, and the options that do the same here. */
export const SAME_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  attempts: ['maxAttempts'],
  concurrency: ['workers'],
  cron: ['when'],
  data: ['payload'],
  deduplication: ['dedupe'],
  expireInSeconds: ['timeout'],
  group: ['orderKey'],
  handler: ['run'],
  host: ['bind'],
  hostname: ['bind'],
  idempotencyKey: ['dedupeKey'],
  jobId: ['id'],
  jobKey: ['dedupeKey'],
  jobKeyMode: ['dedupe'],
  maxRetries: ['maxAttempts'],
  name: ['kind'],
  perform: ['run'],
  process: ['run'],
  processor: ['run'],
  queueName: ['queue', 'orderKey'],
  retries: ['maxAttempts'],
  retryLimit: ['maxAttempts'],
  runIn: ['delay'],
  scheduleIn: ['delay'],
  scheduledAt: ['runAt'],
  schema: ['payload'],
  singletonKey: ['dedupeKey'],
  startAfter: ['delay', 'runAt'],
  unique: ['dedupe'],
  uniqueKey: ['dedupeKey'],
}

/** Each place that takes options, recognized by an option that only this place has. */
const PLACES = {
  mill: 'store',
  kind: 'run',
  job: 'orderKey',
  queue: 'coolFor',
  queueInCode: 'workers',
  schedule: 'when',
  limit: 'rate',
  backoffOfKind: 'fixed',
  backoffOfQueue: 'enabled',
  retention: 'ticks',
} as const

type Place = keyof typeof PLACES

const onQueue =
  (state: 'done' | 'dead'): Hint =>
  (options) =>
    `Use ${retainText(options, state)}`
const inMill =
  (state: 'done' | 'dead'): Hint =>
  (options) =>
    `Set it on the queue: queues: { default: { ${retainText(options, state)} } }`

const WORKERS: Hint = ({ concurrency }) =>
  `Set the workers of the queue: queues: { default: { workers: ${positive(concurrency) ?? 4} } }`
const LIMITER: Hint = ({ limiter }) => limitText(limiter)
const REPEAT: Hint = ({ repeat }) =>
  `Create a schedule: mill.schedules.create({ name, job, ${whenText(asGiven(repeat)['every'])} })`
const BACKOFF_OF_JOB: Hint = ({ backoff }) =>
  `Set it in defineJob: backoff: ${backoffText(asGiven(backoff), 'kind')}`
const RATE: Hint = (options) => `Use ${rateText(options)}`
const STATE_RETENTION: Hint = () => "Set it on the queue: queues: { default: { retain: { done: '7d' } } }"

const QUEUE: Readonly<Record<string, Hint>> = {
  limiter: LIMITER,
  removeOnComplete: onQueue('done'),
  removeOnFail: onQueue('dead'),
}

const HINTS: Readonly<Record<Place, Readonly<Record<string, Hint>>>> = {
  mill: {
    concurrency: WORKERS,
    workers: WORKERS,
    connection: () => "Use store: postgres('postgres://…') or store: sqlite('jobs.db')",
    defaultJobOptions: () => 'Set maxAttempts and backoff in defineJob',
    limiter: LIMITER,
    removeOnComplete: inMill('done'),
    removeOnFail: inMill('dead'),
  },
  kind: {
    concurrency: WORKERS,
    limiter: LIMITER,
    repeat: REPEAT,
    removeOnComplete: inMill('done'),
    removeOnFail: inMill('dead'),
  },
  job: {
    backoff: BACKOFF_OF_JOB,
    lifo: () => 'Use priority: a lower number runs first',
    opts: () => 'Put the options next to payload: { payload, delay, priority }',
    repeat: REPEAT,
    removeOnComplete: inMill('done'),
    removeOnFail: inMill('dead'),
  },
  queue: QUEUE,
  queueInCode: QUEUE,
  schedule: {
    every: ({ every }) => `Use ${whenText(every)}`,
    repeat: ({ repeat }) => `Use ${whenText(asGiven(repeat)['every'])}`,
    startDate: () => "Use start: '2027-01-31T09:00:00Z'",
    endDate: () => "Use end: '2027-01-31T09:00:00Z'",
  },
  limit: { max: RATE, duration: RATE },
  backoffOfKind: {
    type: (options) => `Use ${backoffText(options, 'kind')}`,
    delay: (options) => `Use ${backoffText(options, 'kind')}`,
  },
  backoffOfQueue: {
    type: (options) => `Use ${backoffText(options, 'queue')}`,
    delay: (options) => `Use ${backoffText(options, 'queue')}`,
  },
  retention: { done: STATE_RETENTION, dead: STATE_RETENTION, cancelled: STATE_RETENTION },
}

/** How to write an unknown option of another library at this place. Undefined if it is not one. */
export function hintFor(key: string, options: object, known: readonly string[]): string | undefined {
  for (const place of Object.keys(PLACES) as Place[]) {
    const hints = HINTS[place]
    if (known.includes(PLACES[place]) && Object.hasOwn(hints, key)) return hints[key]?.(asGiven(options))
  }
  return undefined
}

/** For `limiter: { max, duration }`, and for the same object as the `limit` of a queue. */
export function limitText(limiter: unknown): string {
  const rate = rateText(asGiven(limiter))
  return `Declare a limit and name it: limits: { smtp: ${rate} }, queues: { default: { limit: 'smtp' } }`
}

const READY = 'Use ready'
const RUNNING = 'Use running'

const STATES: Readonly<Record<string, string>> = {
  active: RUNNING,
  completed: 'Use done',
  delayed: 'Use scheduled',
  executing: RUNNING,
  failed: 'Use dead, or retrying for failed jobs that will run again',
  paused: 'Use ready: the jobs of a paused queue stay ready',
  pending: READY,
  prioritized: READY,
  wait: READY,
  waiting: READY,
}

/** The fix for a job state of another library. */
export function stateHint(state: unknown): string | undefined {
  return typeof state === 'string' && Object.hasOwn(STATES, state) ? STATES[state] : undefined
}

/** `{ max: 50, duration: 60_000 }` in our words. */
function rateText({ max, duration }: Given): string {
  return `{ rate: ${positive(max) ?? 50}, per: '${lengthText(duration) ?? '1m'}' }`
}

/** `{ type: 'fixed', delay: 5_000 }` in our words. */
function backoffText({ type, delay }: Given, of: 'kind' | 'queue'): string {
  const length = lengthText(delay) ?? '5s'
  if (type !== 'fixed') return `{ base: '${length}' }, which doubles after each failure`
  const fixed = `{ fixed: '${length}' }`
  return of === 'kind' ? fixed : `backoff: ${fixed} in defineJob`
}

/**
 * True removes jobs at once, a number is how many to keep, and an object has a count and an age in seconds.
 */
function retainText(options: Given, state: 'done' | 'dead'): string {
  const kept = options[state === 'done' ? 'removeOnComplete' : 'removeOnFail']
  if (kept === true || kept === 0) return `retain: { ${state}: 0 }`
  if (kept === false) return `retain: { ${state}: 'forever' }`
  const { age, count = kept } = asGiven(kept)
  const most = positive(count)
  const length = lengthText(typeof age === 'number' ? age * 1_000 : age)
  if (most === null) return `retain: { ${state}: '${length ?? '7d'}' }`
  return `retain: { ${state}: { ${length === null ? '' : `for: '${length}', `}most: ${most} } }`
}

function whenText(every: unknown): string {
  const length = lengthText(every)
  return length === null ? "when: '0 9 * * MON'" : `when: 'every ${length}'`
}

function lengthText(ms: unknown): string | null {
  const whole = positive(ms)
  return whole === null ? null : durationText(whole)
}

function positive(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null
}

function asGiven(value: unknown): Given {
  return typeof value === 'object' && value !== null ? (value as Given) : {}
}
