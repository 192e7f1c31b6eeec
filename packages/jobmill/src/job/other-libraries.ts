/**
 * Names and values of other libraries, mostly BullMQ, and what to write here instead. Shows numbers of the
 * caller and never other values, which may be secrets.
 */
import { BOUNDS, DEFAULTS } from './defaults.ts'
import { durationMs, durationText } from './duration.ts'
import { quote } from './errors.ts'
import { UUID } from './names.ts'

type Given = Readonly<Record<string, unknown>>
/** `field` is the path of the options: `queues.mail`. */
type Hint = (options: Given, field: string) => string

/** Option names of other libraries, and the options that do the same here. */
export const SAME_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  attempts: ['maxAttempts'],
  concurrency: ['workers'],
  cron: ['when'],
  data: ['payload'],
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
  onFailed: ['onDead'],
  onFailure: ['onDead'],
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
  states: ['state'],
  status: ['state'],
  statuses: ['state'],
  types: ['state'],
  unique: ['dedupe'],
  uniqueKey: ['dedupeKey'],
}

/** Each place that takes options, recognized by an option that only this place has. */
const PLACES = {
  mill: 'store',
  kind: 'run',
  job: 'orderKey',
  dedupe: 'holdFor',
  queue: 'coolFor',
  queueInCode: 'workers',
  schedule: 'when',
  limit: 'rate',
  backoffOfKind: 'fixed',
  backoffOfQueue: 'enabled',
  retention: 'ticks',
  filter: 'payloadText',
  page: 'include',
} as const

type Place = keyof typeof PLACES

const onQueue =
  (state: 'done' | 'dead'): Hint =>
  (options) =>
    `Use ${retainText(options, state)}`
const inMill =
  (state: 'done' | 'dead'): Hint =>
  (options) =>
    `Set it on the queue: ${queueText(queueOf(options), retainText(options, state))}`

const WORKERS: Hint = (options) =>
  `Set the workers of the queue: ${queueText(queueOf(options), `workers: ${positive(options['concurrency']) ?? 4}`)}`
const LIMITER: Hint = (options) => declaredLimit(options['limiter'], queueOf(options))
const LIMITER_OF_QUEUE: Hint = ({ limiter }, field) => limitText(limiter, field)
/** The options of a limit, written on the queue itself. */
const LIMIT_OF_QUEUE: Hint = (options, field) => limitText(options, field)
const IN_KIND: Hint = () => 'Set it in defineJob: it applies to a kind of job, not to a queue'
const ATTEMPTS: Hint = ({ attempts, maxAttempts, maxRetries, retries, retryLimit }) => {
  const more = positive(retries) ?? positive(retryLimit) ?? positive(maxRetries)
  const most = positive(maxAttempts) ?? positive(attempts) ?? (more === null ? 5 : more + 1)
  return `Set it in defineJob: maxAttempts: ${most}`
}
const FLOW: Hint = () =>
  'Jobs have no parents, children or dependencies. Enqueue the next job in the handler: ' +
  'run: ({ enqueue }) => enqueue(next, payload, { withCompletion: true })'
const PAGE: Hint = ({ limit }) =>
  `Pass it in the second argument: mill.list({ state: 'dead' }, { limit: ${positive(limit) ?? 50} })`
const NEXT_PAGE: Hint = () => 'Pass the next of the previous page: mill.list(filter, { cursor: page.next })'
const ORDER: Hint = () => 'Omit it: a list has one order per state, and ended jobs come newest first'
const REPEAT: Hint = ({ repeat }) =>
  `Create a schedule: mill.schedules.create({ name, job, ${whenText(asGiven(repeat)['every'])} })`
const LIMIT_OF_KIND: Hint = (options) =>
  typeof options['limit'] === 'object'
    ? declaredLimit(options['limit'], queueOf(options))
    : `Set it on the queue: ${queueText(queueOf(options), "limit: 'smtp'")}`
const JOB_ID: Hint = ({ jobId }) =>
  typeof jobId === 'string' && UUID.test(jobId.toLowerCase())
    ? 'Did you mean "id"?'
    : 'Use dedupeKey, or id for a UUID'
const DEDUPE: Hint = (options) => `Use ${dedupeText(options)}`
const DEBOUNCE: Hint = ({ debounce }) =>
  `Use dedupe: { key, onConflict: 'replace' } and delay: '${lengthText(asGiven(debounce)['ttl']) ?? '5s'}'`
const BACKOFF_OF_JOB: Hint = ({ backoff }) =>
  `Set it in defineJob: backoff: ${backoffText(asGiven(backoff), 'kind')}`
const RATE: Hint = (options) => `Use ${rateText(options)}`
const STATE_RETENTION: Hint = () => "Set it on the queue: queues: { default: { retain: { done: '7d' } } }"

const QUEUE: Readonly<Record<string, Hint>> = {
  attempts: ATTEMPTS,
  burst: LIMIT_OF_QUEUE,
  duration: LIMIT_OF_QUEUE,
  limiter: LIMITER_OF_QUEUE,
  max: LIMIT_OF_QUEUE,
  maxAttempts: ATTEMPTS,
  maxRetries: ATTEMPTS,
  orderKey: () => "Pass it to enqueue: mill.enqueue(job, payload, { orderKey: 'customer-7' })",
  per: LIMIT_OF_QUEUE,
  perKey: () =>
    "Acquire it in the handler: limits: { smtp: { rate: 50, per: '1m', perKey: true } }, " +
    "then await limit.acquire('smtp', { key })",
  priority: IN_KIND,
  rate: LIMIT_OF_QUEUE,
  rateLimit: ({ rateLimit }, field) => limitText(rateLimit, field),
  removeOnComplete: onQueue('done'),
  removeOnFail: onQueue('dead'),
  retries: ATTEMPTS,
  retryIf: IN_KIND,
  retryLimit: ATTEMPTS,
  timeout: IN_KIND,
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
    cron: REPEAT,
    limit: LIMIT_OF_KIND,
    limiter: LIMITER,
    repeat: REPEAT,
    removeOnComplete: inMill('done'),
    removeOnFail: inMill('dead'),
  },
  job: {
    backoff: BACKOFF_OF_JOB,
    children: FLOW,
    cron: REPEAT,
    debounce: DEBOUNCE,
    deduplication: ({ deduplication }) => `Use dedupe: ${dedupeText(asGiven(deduplication))}`,
    dependencies: FLOW,
    dependsOn: FLOW,
    failParentOnFailure: FLOW,
    jobId: JOB_ID,
    lifo: () => 'Use priority: a lower number runs first',
    opts: () => 'Put the options next to payload: { payload, delay, priority }',
    parent: FLOW,
    repeat: REPEAT,
    removeOnComplete: inMill('done'),
    removeOnFail: inMill('dead'),
  },
  dedupe: { id: DEDUPE, ttl: DEDUPE, replace: DEDUPE },
  queue: QUEUE,
  queueInCode: QUEUE,
  schedule: {
    every: ({ every }) => `Use ${whenText(every)}`,
    repeat: ({ repeat }) => `Use ${whenText(asGiven(repeat)['every'])}`,
    startDate: () => "Use start: '2027-01-31T09:00:00Z'",
    endDate: () => "Use end: '2027-01-31T09:00:00Z'",
  },
  limit: { max: RATE, duration: RATE, limit: RATE, interval: RATE, window: RATE },
  backoffOfKind: {
    type: (options) => `Use ${backoffText(options, 'kind')}`,
    delay: (options) => `Use ${backoffText(options, 'kind')}`,
  },
  backoffOfQueue: {
    type: (options) => `Use ${backoffText(options, 'queue')}`,
    delay: (options) => `Use ${backoffText(options, 'queue')}`,
  },
  retention: { done: STATE_RETENTION, dead: STATE_RETENTION, cancelled: STATE_RETENTION },
  filter: {
    asc: ORDER,
    cursor: NEXT_PAGE,
    end: PAGE,
    include: () => "Pass it in the second argument: mill.list({ state: 'dead' }, { include: ['payload'] })",
    limit: PAGE,
    offset: NEXT_PAGE,
    order: ORDER,
    orderBy: ORDER,
    page: NEXT_PAGE,
    pageSize: PAGE,
    start: NEXT_PAGE,
  },
  page: { offset: NEXT_PAGE, order: ORDER, orderBy: ORDER, page: NEXT_PAGE, start: NEXT_PAGE },
}

/** How to write an unknown option of another library at this place. Undefined if it is not one. */
export function hintFor(
  key: string,
  options: object,
  field: string,
  known: readonly string[],
): string | undefined {
  for (const place of Object.keys(PLACES) as Place[]) {
    const hints = HINTS[place]
    if (known.includes(PLACES[place]) && Object.hasOwn(hints, key))
      return hints[key]?.(asGiven(options), field)
  }
  return undefined
}

/**
 * For `limiter: { max, duration }`, and for the same object as the `limit` of a queue. `field` is the path of
 * the queue.
 */
export function limitText(limiter: unknown, field: string): string {
  if (field.startsWith(IN_QUEUES)) return declaredLimit(limiter, field.slice(IN_QUEUES.length))
  return `Create a limit, then pass its name: mill.limits.create('smtp', ${rateText(asGiven(limiter))}), limit: 'smtp'`
}

const IN_QUEUES = 'queues.'

function declaredLimit(limiter: unknown, queue: string): string {
  const rate = rateText(asGiven(limiter))
  return `Declare a limit and name it: limits: { smtp: ${rate} }, ${queueText(queue, "limit: 'smtp'")}`
}

/** The queue of a kind, or the only queue in the options of a mill. */
function queueOf({ queue, queues }: Given): string {
  if (typeof queue === 'string') return queue
  const [only, ...others] = Object.keys(asGiven(queues))
  return only === undefined || others.length > 0 ? DEFAULTS.queue : only
}

function queueText(queue: string, setting: string): string {
  const isPlain = /^[A-Za-z_$][\w$]{0,39}$/.test(queue)
  return `queues: { ${isPlain ? queue : quote(queue)}: { ${setting} } }`
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

const EVENTS: Readonly<Record<string, string>> = {
  active: 'Did you mean "started"?',
  added: 'Did you mean "enqueued"?',
  closed: 'Did you mean "mill-stopped"?',
  closing: 'Did you mean "mill-stopping"?',
  completed: 'Did you mean "finished"?',
  deduplicated: 'Did you mean "duplicate"?',
  done: 'Did you mean "finished"?',
  error: 'Did you mean "store-failing"?',
  failed: 'Did you mean "dead", or "retried" for an attempt that will be retried?',
  ready: 'Did you mean "mill-started"?',
  'retries-exhausted': 'Did you mean "dead"?',
  stalled: 'Did you mean "reaped"?',
  succeeded: 'Did you mean "finished"?',
  success: 'Did you mean "finished"?',
  waiting: 'Did you mean "enqueued"?',
}

/** The fix for an event name of another library. */
export function eventHint(type: string): string | undefined {
  return Object.hasOwn(EVENTS, type) ? EVENTS[type] : undefined
}

/**
 * `{ max: 50, duration: 60_000 }` in our words. A period that is too short here becomes a longer one with
 * the same rate.
 */
function rateText(options: Given): string {
  const { max, limit = max, rate = limit, duration, interval = duration, window = interval } = options
  const { per = window } = options
  const ms = lengthMs(per) ?? 60_000
  const times = Math.max(1, Math.ceil(BOUNDS.shortestPerMs / ms))
  return `{ rate: ${(positive(rate) ?? 50) * times}, per: '${durationText(ms * times)}' }`
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

/** `{ id, ttl: 5_000, replace: true }` in our words. A hold starts later than a ttl: when the job is done. */
function dedupeText({ ttl, replace }: Given): string {
  const length = lengthText(ttl)
  const hold = length === null ? '' : `, holdFor: '${length}'`
  const text = `{ key${hold}${replace === true ? ", onConflict: 'replace'" : ''} }`
  return length === null ? text : `${text}: the hold starts when the job is done`
}

function whenText(every: unknown): string {
  const length = lengthText(every)
  return length === null ? "when: '0 9 * * MON'" : `when: 'every ${length}'`
}

function lengthText(length: unknown): string | null {
  const ms = lengthMs(length)
  return ms === null ? null : durationText(ms)
}

/** Milliseconds, or a duration as text. */
function lengthMs(length: unknown): number | null {
  if (typeof length !== 'string') return positive(length)
  try {
    return positive(durationMs(length, ''))
  } catch {
    return null
  }
}

function positive(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null
}

function asGiven(value: unknown): Given {
  return typeof value === 'object' && value !== null ? (value as Given) : {}
}
