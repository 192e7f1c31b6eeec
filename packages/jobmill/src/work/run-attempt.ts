/** Runs the handler of one attempt, and reports how it ended as one of the cases of job/attempt/decide.ts. */
import type { JobContext } from '../job/context.ts'
import type { Ended } from '../job/attempt/decide.ts'
import { DEFAULTS } from '../job/defaults.ts'
import { isJobmillError, JobmillError } from '../job/errors.ts'
import { errorText } from '../job/text/error-text.ts'
import { jsonText } from '../job/text/json-text.ts'
import { applySchema, type Schema } from '../job/payload/schema.ts'
import { thrownOutcome } from '../job/attempt/thrown.ts'
import { orAborted } from '../platform/or-aborted.ts'
import type { Platform } from '../platform/platform.ts'
import type { Memo } from '../store/types/step.ts'
import { type Attempt, interrupt } from './attempt.ts'
import type { Handler, Middleware } from './handler.ts'
import { asHandlerOf } from './inside-handler.ts'

export interface RunTools {
  readonly platform: Platform
  readonly middleware: readonly Middleware[]
  readonly contextFor: (attempt: Attempt, payload: unknown) => JobContext
  /** Reads the steps that earlier attempts of this job recorded. */
  readonly memosOf: (attempt: Attempt) => Promise<readonly Memo[]>
  /** Interrupts all attempts if the lease is over by the clock: its timer may fire later. */
  readonly noticeLostLease: () => void
}

/**
 * Calls `end` once, in a later microtask; `end` must not throw. A callback instead of a promise, because this
 * runs for every job.
 */
export type RunAttempt = (
  attempt: Attempt,
  handler: Handler,
  tools: RunTools,
  end: (ended: Ended) => void,
) => Promise<void>

type RunHandler = (handler: Handler, context: JobContext) => Promise<unknown>

/** Made once per instance, so that inside-handler.ts can recognize the handlers of that instance. */
export function attemptRunner(instance: string): RunAttempt {
  // The promises of middleware hide the outer function from the stack, so the inner one is named too.
  const inside: RunHandler = asHandlerOf(instance, async (handler, context) => await handler.run(context))
  return asHandlerOf(instance, async (attempt, handler, tools, end) => {
    const timer = timeoutFor(attempt, handler, tools.platform)
    let how: Ended
    // Without middleware, nothing waits for an abandoned handler.
    attempt.whenParked = () => {
      timer?.cancel()
      end(PARKED)
    }
    try {
      // The handler must not start after the attempt was asked to stop, and the worker must be free by then.
      if (attempt.lease.hasSteps === true) {
        attempt.memos = await orAborted(tools.memosOf(attempt), attempt.signal)
        throwIfLost(attempt, tools)
      }
      // Avoids needless awaits: most jobs have neither a schema nor middleware.
      const stored: unknown = JSON.parse(attempt.lease.payload)
      const payload =
        handler.payload === undefined ? stored : await validated(stored, handler.payload, attempt, tools)
      if (handler.events !== undefined) attempt.events = handler.events
      const context = tools.contextFor(attempt, payload)
      const { middleware } = tools
      const returned: unknown = await (middleware.length === 0
        ? handler.run(context)
        : through(middleware, context, () => orParked(attempt, inside(handler, context))))
      attempt.isSettled = true
      const outcome = attempt.completedInTx ? rolledBack() : kept(returned, handler.result)
      how = outcome instanceof Promise ? await outcome : outcome
    } catch (error) {
      attempt.isSettled = true
      how = ended(attempt, error)
      // Defers even a handler that throws synchronously: the caller counts free workers and must finish
      // before one becomes free.
      await Promise.resolve()
    }
    timer?.cancel()
    // The attempt was parked before, and its handler has ended nevertheless.
    if (attempt.parked && attempt.ended) return
    // A middleware may have replaced the interruption.
    end(attempt.parked ? PARKED : how)
  })
}

/** After a wait: if this process was suspended, its lease may be over. The handler must not start then. */
function throwIfLost(attempt: Attempt, { noticeLostLease }: RunTools): void {
  noticeLostLease()
  if (attempt.interruption !== null) throw attempt.interruption
}

const PARKED: Ended = { how: 'parked' }

/** For middleware, a handler that is parked ends with an error: only its own code never continues. */
function orParked(attempt: Attempt, running: Promise<unknown>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    attempt.whenParked = () => {
      if (attempt.interruption !== null) reject(attempt.interruption)
    }
    running
      .finally(() => {
        attempt.isSettled = true
      })
      .then(resolve, reject)
  })
}

/** The schema rejected the payload, and the handler did not run. */
class Unfit extends Error {}

/** An async schema must not occupy the worker after the attempt timed out or was asked to stop. */
async function validated(
  stored: unknown,
  schema: Schema,
  attempt: Attempt,
  tools: RunTools,
): Promise<unknown> {
  try {
    const fitting = applySchema(schema, stored, 'payload')
    if (!(fitting instanceof Promise)) return fitting
    const payload: unknown = await orAborted(fitting, attempt.signal)
    throwIfLost(attempt, tools)
    return payload
  } catch (error) {
    // A schema that throws says nothing about the payload, so it counts as an ordinary failure.
    if (isJobmillError(error) && error.code === 'PAYLOAD_INVALID') throw new Unfit('', { cause: error })
    throw error
  }
}

/** The timeout counts from the start of the attempt, not from the claim. */
function timeoutFor(attempt: Attempt, handler: Handler, platform: Platform) {
  const ms = attempt.lease.timeoutMs ?? kindTimeout(attempt, handler)
  if (ms === undefined) return undefined
  return platform.timer(ms, () =>
    interrupt(attempt, 'timeout', platform.monotonic(), { detail: `timed out after ${ms} ms` }),
  )
}

/** Only handlers that run programs have timeouts in their payloads, so no other payload is parsed twice. */
function kindTimeout({ lease }: Attempt, { timeoutMs, hasOwnTimeout }: Handler): number | undefined {
  return hasOwnTimeout?.(JSON.parse(lease.payload)) === true ? undefined : timeoutMs
}

function through(
  middleware: readonly Middleware[],
  context: JobContext,
  run: () => Promise<unknown>,
): Promise<unknown> {
  return middleware.reduceRight<() => Promise<unknown>>(
    (next, around) => async () => around(context, once(next)),
    run,
  )()
}

/** A middleware that calls next twice would run the job twice in one attempt. */
function once(next: () => Promise<unknown>): () => Promise<unknown> {
  let called = false
  return () => {
    if (called) {
      return Promise.reject(
        new JobmillError('HANDLER_INVALID', 'a middleware called next() twice', {
          fix: 'Call next() at most once in each middleware',
        }),
      )
    }
    called = true
    const going = next()
    // A middleware that does not await it must not cause an unhandled rejection.
    going.catch(() => {})
    return going
  }
}

/**
 * The work is done, even if its result cannot be stored. Returns a promise only if the result schema is
 * async.
 */
export function kept(returned: unknown, schema: Schema | undefined): Ended | Promise<Ended> {
  try {
    const result = schema === undefined ? returned : applySchema(schema, returned, 'result')
    return result instanceof Promise ? result.then(keep, notKept) : keep(result)
  } catch (error) {
    return notKept(error)
  }
}

function keep(result: unknown): Ended {
  if (result === undefined) return { how: 'returned', result: null }
  try {
    return {
      how: 'returned',
      result: jsonText(
        result,
        'result',
        DEFAULTS.payloadLimitBytes,
        'Store it elsewhere and return a reference',
      ),
    }
  } catch (error) {
    return notKept(error)
  }
}

function notKept(error: unknown): Ended {
  return { how: 'returned', result: null, notKept: errorText(error) }
}

/** `complete` was called. If the user committed, this write changes nothing; if not, it counts. */
function rolledBack(): Ended {
  const error = new JobmillError(
    'TX_ROLLED_BACK',
    'the transaction that completed this job was not committed',
    {
      fix: 'Commit it before the handler returns',
    },
  )
  return { how: 'failed', error }
}

function ended(attempt: Attempt, error: unknown): Ended {
  try {
    return endedBy(attempt, error)
  } catch {
    // Reading the error failed, for example on a revoked proxy. The worker and the job must survive that.
    return { how: 'failed', error }
  }
}

function endedBy(attempt: Attempt, error: unknown): Ended {
  if (error instanceof Unfit) return { how: 'unfit', error: error.cause }
  const thrown = thrownOutcome(error)
  if (thrown !== null) {
    if (thrown.says === 'snooze') return { how: 'snoozed', thrown }
    return thrown.says === 'throttled' ? { how: 'throttled', thrown } : { how: 'failed-permanently', thrown }
  }
  const by = attempt.interruption
  if (by !== null) return { how: 'interrupted', by, error }
  return { how: isCausedBy(error, attempt.stale) ? 'stale' : 'failed', error }
}

/** Drivers and query builders may wrap the error of a transaction. */
function isCausedBy(error: unknown, cause: Error | null): boolean {
  if (cause === null || !(error instanceof Error)) return false
  return error === cause || isCausedBy(error.cause, cause)
}
