/** Options of other libraries, mostly BullMQ, and what to write here instead. */
import { UUID } from '../names.ts'
import {
  asGiven,
  backoffText,
  declaredLimit,
  dedupeText,
  lengthText,
  limitText,
  positive,
  queueOf,
  queueText,
  rateText,
  retainText,
  whenText,
  type Given,
} from './texts.ts'

/** `field` is the path of the options: `queues.mail`. */
type Hint = (options: Given, field: string) => string

/** Option names of other libraries, and the options that do the same here. */
export const SAME_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  at: ['runAt'],
  attempts: ['maxAttempts'],
  concurrency: ['workers'],
  cron: ['when'],
  data: ['payload'],
  expireInSeconds: ['timeout'],
  group: ['groups'],
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
  singletonSeconds: ['dedupe'],
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
  declaration: 'result',
  job: 'runAt',
  dedupe: 'holdFor',
  debounce: 'maxWait',
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
const IN_HANDLER: Hint = () => 'Pass it to implement(declaration, { run }), or use defineJob'
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
const OF_JOB: Hint = () => "Pass it to enqueue: mill.enqueue(job, payload, { delay: '5m' })"
const LIMIT_OF_KIND: Hint = (options) =>
  typeof options['limit'] === 'object'
    ? declaredLimit(options['limit'], queueOf(options))
    : `Set it on the queue: ${queueText(queueOf(options), "limit: 'smtp'")}`
const JOB_ID: Hint = ({ jobId }) =>
  typeof jobId === 'string' && UUID.test(jobId.toLowerCase())
    ? 'Did you mean "id"?'
    : 'Use dedupeKey, or id for a UUID'
const DEDUPE: Hint = (options) => `Use ${dedupeText(options)}`
const DEBOUNCE: Hint = ({ ttl }) => `Use { key, wait: '${lengthText(ttl) ?? '5s'}' }`
const BACKOFF_OF_JOB: Hint = ({ backoff }) =>
  `Set it in defineJob: backoff: ${backoffText(asGiven(backoff), 'kind')}`
const backoffOf =
  (of: 'kind' | 'queue'): Hint =>
  (options) =>
    `Use ${backoffText(options, of)}`
const RATE: Hint = (options) => `Use ${rateText(options)}`
const WHEN_CRON: Hint = () => "Use when: '0 9 * * MON'"
const ZONE: Hint = () => "Use zone: 'Europe/Paris'"
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

const KIND: Readonly<Record<string, Hint>> = {
  concurrency: WORKERS,
  cron: REPEAT,
  delay: OF_JOB,
  limit: LIMIT_OF_KIND,
  limiter: LIMITER,
  repeat: REPEAT,
  removeOnComplete: inMill('done'),
  removeOnFail: inMill('dead'),
  runAt: OF_JOB,
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
  kind: KIND,
  declaration: {
    ...KIND,
    run: IN_HANDLER,
    onDead: IN_HANDLER,
    onCancelled: IN_HANDLER,
    retryIf: IN_HANDLER,
    service: IN_HANDLER,
    version: IN_HANDLER,
  },
  job: {
    backoff: BACKOFF_OF_JOB,
    children: FLOW,
    cron: REPEAT,
    deduplication: ({ deduplication }) => `Use dedupe: ${dedupeText(asGiven(deduplication))}`,
    dependencies: FLOW,
    dependsOn: FLOW,
    failParentOnFailure: FLOW,
    jobId: JOB_ID,
    limit: LIMIT_OF_KIND,
    lifo: () => 'Use priority: a lower number runs first',
    opts: () => 'Put the options next to payload: { payload, delay, priority }',
    parent: FLOW,
    repeat: REPEAT,
    removeOnComplete: inMill('done'),
    removeOnFail: inMill('dead'),
  },
  dedupe: { id: DEDUPE, ttl: DEDUPE, replace: DEDUPE },
  debounce: { id: DEBOUNCE, ttl: DEBOUNCE },
  queue: QUEUE,
  queueInCode: QUEUE,
  schedule: {
    cron: WHEN_CRON,
    expression: WHEN_CRON,
    interval: () => "Use when: 'every 10m'",
    kind: () => "Use job: 'email.send'",
    pattern: WHEN_CRON,
    timeZone: ZONE,
    timezone: ZONE,
    tz: ZONE,
    every: ({ every }) => `Use ${whenText(every)}`,
    repeat: ({ repeat }) => `Use ${whenText(asGiven(repeat)['every'])}`,
    startDate: () => "Use start: '2027-01-31T09:00:00Z'",
    endDate: () => "Use end: '2027-01-31T09:00:00Z'",
  },
  limit: { max: RATE, duration: RATE, limit: RATE, interval: RATE, window: RATE },
  backoffOfKind: { type: backoffOf('kind'), delay: backoffOf('kind') },
  backoffOfQueue: { type: backoffOf('queue'), delay: backoffOf('queue') },
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
