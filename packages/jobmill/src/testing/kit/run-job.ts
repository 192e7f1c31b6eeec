/** Runs one handler in isolation: no store, no queue, one attempt. Returns everything it did. */
import type { InstanceInfo, JobInfo } from '../../job/context.ts'
import { decide, type Ended } from '../../job/attempt/decide.ts'
import { BOUNDS, DEFAULTS } from '../../job/defaults.ts'
import type { JobDefinition } from '../../job/kind/definition.ts'
import { type EventSchemas, schemaOfEvent, type SentPayload } from '../../job/kind/event-schemas.ts'
import { type InterruptionCause, isInterruption } from '../../job/attempt/interruption.ts'
import { jsonText } from '../../job/text/json-text.ts'
import { checkObjectKeys } from '../../job/options/known-keys.ts'
import { checkDraw, checkWait, type LimitInside, type Permit } from '../../job/limit/limit-handle.ts'
import { checkName } from '../../job/names.ts'
import { checkWhole } from '../../job/numbers.ts'
import type { Outcome } from '../../job/attempt/outcome.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../job/queue/queue-settings.ts'
import { systemPlatform } from '../../platform/platform.ts'
import type { Lease } from '../../store/types/claim.ts'
import { type Attempt, interrupt, newAttempt } from '../../work/attempt.ts'
import { runOf } from '../../work/chunks.ts'
import type { Handler } from '../../work/handler.ts'
import { type LogLine, readLog } from '../../work/log-buffer.ts'
import { makeContext } from '../../work/make-context.ts'
import { attemptRunner, kept } from '../../work/run-attempt.ts'
import { type EnqueuedInside, enqueueNowhere } from './enqueue-nowhere.ts'
import { type GivenSteps, type StepRun, stepsInMemory } from './steps-in-memory.ts'

export interface RunJobOptions<Context = unknown, Events extends EventSchemas = EventSchemas> extends Pick<
  GivenSteps,
  'steps'
> {
  /** Payloads of events that have arrived, by event. */
  readonly events?: { readonly [Name in keyof Events]?: SentPayload<Events, Name> }
  /** What the handler gets as `context`, such as `{ db }`. */
  readonly context?: Context
  /** The attempt number (default 1). */
  readonly attempt?: number
  /** What `previousError()` returns from the second attempt on (default null). */
  readonly previousError?: string
  /** Fires the signal of the handler: as a cancel, or with its reason if that is an `Interruption`. */
  readonly signal?: AbortSignal
  /** Other fields of the job that the handler sees. */
  readonly job?: Partial<Omit<JobInfo, 'kind' | 'attempt'>>
}

export interface JobRun<Result = unknown> {
  readonly outcome: Outcome
  /** What `result()` would return. Only set if the handler returned a value that can be stored. */
  readonly result?: Result
  /**
   * The thrown error, including Snooze, Throttled and Dead; or why the payload or the result does not match
   * its schema.
   */
  readonly error?: unknown
  /** All reported values, in order. */
  readonly progress: readonly unknown[]
  readonly log: readonly LogLine[]
  /** Jobs enqueued with the completion are included only if the handler returned. */
  readonly enqueued: readonly EnqueuedInside[]
  /** Durable steps that ran, in order. Given steps are not included. */
  readonly steps: readonly StepRun[]
}

const INSTANCE: InstanceInfo = Object.freeze({
  id: '00000000-0000-7000-8000-000000000000',
  label: 'runJob',
})

/**
 * Never throws what the handler throws: `const { outcome, result } = await runJob(sendEmail, { to:
 * 'ada@example.com' })`.
 */
export async function runJob<Input, Result, Context = unknown, Events extends EventSchemas = EventSchemas>(
  definition: JobDefinition<Input, Result, Context, Events>,
  payload: Input,
  ...[options = {}]: unknown extends Context
    ? [options?: RunJobOptions<Context, Events>]
    : [options: RunJobOptions<Context, Events> & { readonly context: Context }]
): Promise<JobRun<Result>> {
  checkObjectKeys(options, 'options', [
    'context',
    'attempt',
    'previousError',
    'signal',
    'job',
    'steps',
    'events',
  ])
  const events: Readonly<Record<string, unknown>> = options.events ?? {}
  for (const name of Object.keys(events)) schemaOfEvent(definition, name, 'options.events')
  const { chunk } = definition
  const handler: Handler = {
    ...definition,
    // A chunk contains this job alone.
    run: runOf({ ...definition, chunk: chunk && { ...chunk, size: 1 } }, systemPlatform),
    followsDeaths: false,
    followsCancels: false,
  }
  const attempt = newAttempt(leaseFor(definition, payload, options), systemPlatform.monotonic())
  const nowhere = enqueueNowhere(attempt)
  const steps = stepsInMemory({ ...options, events }, systemPlatform, {
    prepare: nowhere.prepare,
    enqueue: nowhere.add,
  })
  const progress: unknown[] = []
  let completed: Ended | undefined
  const contextFor = (_: Attempt, fitted: unknown) =>
    makeContext(attempt, fitted, {
      platform: systemPlatform,
      instance: INSTANCE,
      context: options.context,
      forwardLog: null,
      enqueueFor: () => nowhere,
      limitFor: () => BOUNDLESS,
      stepFor: steps.of,
      previousError: async () => options.previousError ?? null,
      changed() {
        if (attempt.progress !== undefined) progress.push(JSON.parse(attempt.progress))
        attempt.progress = undefined
      },
      complete: async (_attempt, _tx, result) => void (completed = await kept(result, handler.result)),
    })
  const stop = obey(options.signal, attempt)
  await definition.service?.start()
  const database = { memosOf: async () => [], noticeLostLease() {} }
  const tools = { platform: systemPlatform, middleware: [], contextFor, ...database }
  const runAttempt = attemptRunner(INSTANCE.id)
  const ran = await new Promise<Ended>((resolve) => void runAttempt(attempt, handler, tools, resolve))
  attempt.ended = true
  attempt.whenEnded?.()
  stop()
  await definition.service?.stop()
  const ended = ran.how === 'returned' ? (completed ?? ran) : ran
  return {
    ...reportOf<Result>(ended, attempt.lease),
    progress,
    log: readLog(attempt.log.text() ?? null),
    enqueued: nowhere.enqueued(ended.how === 'returned'),
    steps: steps.ran,
  }
}

/** Grants everything at once: budgets are not part of a single handler. */
const BOUNDLESS: LimitInside = {
  acquire: async (name, draw) => granted(name, checkWait(draw).rest),
  tryAcquire: async (name, draw) => granted(name, draw),
  drain: async (name) => void checkName(name, 'limit'),
}

function granted(name: string, draw: Parameters<typeof checkDraw>[1]): Permit {
  return { ...checkDraw(name, draw), release: async () => {}, [Symbol.asyncDispose]: async () => {} }
}

function leaseFor(
  definition: JobDefinition,
  payload: unknown,
  { attempt = 1, job = {} }: RunJobOptions,
): Lease {
  const { metadata = null, ...info } = job
  return {
    id: systemPlatform.id(),
    token: 1,
    kind: definition.kind,
    queue: definition.queue ?? DEFAULTS.queue,
    priority: definition.priority ?? DEFAULTS.priority,
    maxAttempts: definition.maxAttempts ?? DEFAULTS.maxAttempts,
    crashes: 0,
    timeoutMs: null,
    tags: [],
    orderKey: null,
    group: null,
    enqueuedAt: systemPlatform.now(),
    readyAt: systemPlatform.now(),
    waitedMs: 0,
    ...info,
    attempt: checkWhole(attempt, 'options.attempt', BOUNDS.maxAttempts),
    payload: jsonText(payload, 'payload', DEFAULTS.payloadLimitBytes, 'Pass a smaller payload'),
    metadata: metadata === null ? null : JSON.stringify(metadata),
  }
}

/** Forwards the signal of the caller as the reason of the interruption. */
function obey(signal: AbortSignal | undefined, attempt: Attempt): () => void {
  const fire = (): void => {
    const reason: unknown = signal?.reason
    const why: InterruptionCause = isInterruption(reason) ? reason.why : 'cancelled'
    interrupt(
      attempt,
      why,
      systemPlatform.monotonic(),
      reason instanceof Error ? { detail: reason.message } : {},
    )
  }
  if (signal?.aborted === true) fire()
  signal?.addEventListener('abort', fire, { once: true })
  return () => signal?.removeEventListener('abort', fire)
}

function reportOf<Result>(
  ended: Ended,
  { attempt, maxAttempts }: Lease,
): Pick<JobRun<Result>, 'outcome' | 'result' | 'error'> {
  const queue = DEFAULT_QUEUE_SETTINGS
  const { outcome } = decide(ended, {
    ageMs: 0,
    attempt,
    maxAttempts,
    backoff: undefined,
    mayRetry: true,
    queue,
    random: 0,
  })
  if (ended.how === 'parked') return { outcome }
  if (ended.how !== 'returned') return { outcome, error: 'thrown' in ended ? ended.thrown : ended.error }
  if (ended.notKept !== undefined) return { outcome, error: ended.notKept }
  return ended.result === null ? { outcome } : { outcome, result: JSON.parse(ended.result) as Result }
}
