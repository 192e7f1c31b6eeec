/**
 * The context of one attempt. Its writes are fenced by the lease token and rejected after the attempt has
 * ended.
 */
import type { InstanceInfo, JobContext, JobInfo, JobLog, LogLevel } from '../job/context.ts'
import { DEFAULTS } from '../job/defaults.ts'
import type { Duration } from '../job/duration.ts'
import { JobmillError } from '../job/errors.ts'
import { jsonText } from '../job/text/json-text.ts'
import type { LimitInside } from '../job/limit/limit-handle.ts'
import { type LogFields, plainErrors } from '../job/text/plain-errors.ts'
import { withoutEntries } from '../job/payload/indexed.ts'
import { Snooze } from '../job/attempt/thrown.ts'
import type { Step } from '../job/step/step.ts'
import type { Platform } from '../platform/platform.ts'
import type { Lease } from '../store/types/claim.ts'
import type { Attempt } from './attempt.ts'

/** What an attempt can use. */
export interface ContextTools {
  readonly platform: Platform
  readonly instance: InstanceInfo
  /** What the application injects into its handlers. */
  readonly context: unknown
  readonly changed: (attempt: Attempt) => void
  /** Forwards a log line to the logger of the application. Null without a logger. */
  readonly forwardLog:
    | ((attempt: Attempt, level: LogLevel, message: string, fields: LogFields | undefined) => void)
    | null
  /** The public enqueue functions, bound to this attempt. */
  readonly enqueueFor: (attempt: Attempt) => Pick<JobContext, 'enqueue' | 'enqueueMany'>
  /** Uses limits on behalf of this attempt. */
  readonly limitFor: (attempt: Attempt) => LimitInside
  /** The error of the last ended attempt, as `get` returns it. */
  readonly previousError: (attempt: Attempt) => Promise<string | null>
  readonly complete: (attempt: Attempt, tx: unknown, result: unknown) => Promise<void>
  /** The durable steps of this attempt. */
  readonly stepFor: (attempt: Attempt) => Step
}

/**
 * Every member is an own property that works without `this`, because handlers destructure and spread the
 * context.
 */
export function makeContext(attempt: Attempt, payload: unknown, tools: ContextTools): JobContext {
  const { enqueue, enqueueMany } = tools.enqueueFor(attempt)
  attempt.stepFor = tools.stepFor
  const context: Omit<JobContext, 'signal' | 'step'> & OfAttempt = {
    payload,
    context: tools.context,
    job: jobInfo(attempt.lease),
    attempt: attempt.lease.attempt,
    instance: tools.instance,
    now: () => tools.platform.now(),
    log: jobLog(attempt, tools),
    enqueue,
    enqueueMany,
    limit: tools.limitFor(attempt),
    progress(value) {
      if (attempt.ended) return
      attempt.progress = jsonText(value, 'progress', DEFAULTS.payloadLimitBytes, 'Report less data')
      tools.changed(attempt)
    },
    previousError: async () => (mayHaveFailed(attempt.lease) ? tools.previousError(attempt) : null),
    snooze,
    complete(tx, result) {
      checkLive(attempt)
      return tools.complete(attempt, tx, result)
    },
  }
  // Assigned separately: with a computed key in the literal, V8 would add its fields one by one.
  context[ATTEMPT] = attempt
  return withAccessors(context)
}

const ATTEMPT = Symbol('attempt')

interface OfAttempt {
  [ATTEMPT]?: Attempt
}

type Accessed = Pick<JobContext, 'signal' | 'step'>

function withAccessors<T extends OfAttempt>(context: T): T & Accessed {
  Object.defineProperty(context, 'signal', SIGNAL)
  return Object.defineProperty(context, 'step', STEP) as T & Accessed
}

/** Created on first read. All contexts share one getter, so that they have the same hidden class. */
const SIGNAL = {
  enumerable: true,
  configurable: true,
  get(this: OfAttempt): AbortSignal {
    return (this[ATTEMPT] as Attempt).signal
  },
  /** A middleware may replace the signal. */
  set(this: object, value: AbortSignal): void {
    Object.defineProperty(this, 'signal', { value, enumerable: true, configurable: true, writable: true })
  },
}

/** As `SIGNAL`. */
const STEP = {
  enumerable: true,
  configurable: true,
  get(this: OfAttempt): Step {
    return (this[ATTEMPT] as Attempt).step
  },
  set(this: object, value: Step): void {
    Object.defineProperty(this, 'step', { value, enumerable: true, configurable: true, writable: true })
  },
}

/** Refunded attempts are not counted, so only a failure or a crash can have come before. */
function mayHaveFailed({ attempt, crashes }: Lease): boolean {
  return attempt > 1 || crashes > 0
}

function snooze(time: Duration): never {
  throw new Snooze(time)
}

export function checkLive(attempt: Attempt): void {
  if (!attempt.ended) return
  const what = `attempt ${attempt.lease.attempt} of job ${attempt.lease.id} has ended`
  throw new JobmillError('ATTEMPT_ENDED', what, { fix: 'Await all work before the handler returns' })
}

export function jobInfo(lease: Lease): JobInfo {
  const { metadata } = lease
  return {
    id: lease.id,
    token: lease.token,
    kind: lease.kind,
    queue: lease.queue,
    priority: lease.priority,
    attempt: lease.attempt,
    maxAttempts: lease.maxAttempts,
    crashes: lease.crashes,
    tags: withoutEntries(lease.tags),
    orderKey: lease.orderKey,
    group: lease.group,
    enqueuedAt: lease.enqueuedAt,
    metadata: metadata === null ? null : (JSON.parse(metadata) as JobInfo['metadata']),
  }
}

function jobLog(attempt: Attempt, tools: ContextTools): JobLog {
  const log = ((message, fields) => writeLog(attempt, tools, 'info', message, fields)) as JobLog
  log.debug = (message, fields) => writeLog(attempt, tools, 'debug', message, fields)
  log.info = (message, fields) => writeLog(attempt, tools, 'info', message, fields)
  log.warn = (message, fields) => writeLog(attempt, tools, 'warn', message, fields)
  log.error = (message, fields) => writeLog(attempt, tools, 'error', message, fields)
  return log
}

function writeLog(
  attempt: Attempt,
  tools: ContextTools,
  level: LogLevel,
  message: string,
  fields: LogFields | undefined,
): void {
  if (attempt.ended) return
  const at = tools.platform.now()
  const line = { at, level, message }
  attempt.log.add(fields === undefined ? line : { ...line, fields: plainErrors(fields) })
  tools.changed(attempt)
  tools.forwardLog?.(attempt, level, message, fields)
}
