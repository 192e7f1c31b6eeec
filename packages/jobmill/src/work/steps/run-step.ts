/** Runs the function of `step.run`, with its checkpoints, its signal and its timeout. */
import { BOUNDS } from '../../job/defaults.ts'
import type { Emit } from '../../job/events.ts'
import type { StepContext } from '../../job/step/step.ts'
import { errorText } from '../../job/text/error-text.ts'
import { jsonText } from '../../job/text/json-text.ts'
import type { Platform } from '../../platform/platform.ts'
import type { StepKind, StepWrite } from '../../store/types/step.ts'
import type { Attempt } from '../attempt.ts'
import { asStepOf } from './inside-step.ts'
import type { CalledStep } from './memos.ts'
import { idempotencyKey, timedOut } from './step-errors.ts'
import type { JobmillError } from '../../job/errors.ts'

export const RESULT_FIX = 'Store it elsewhere and return a reference'

interface StepRunner {
  readonly attempt: Attempt
  readonly platform: Platform
  readonly save: (item: StepWrite) => Promise<void>
  readonly writeOf: (step: CalledStep, kind: StepKind, ranMs: number, rest: Partial<StepWrite>) => StepWrite
  /** The JSON text of a result; null for undefined. */
  readonly resultText: (name: string, value: unknown) => string | null
  readonly emit: Emit
}

export function stepRunner({ attempt, platform, save, writeOf, resultText, emit }: StepRunner) {
  const { lease } = attempt
  /** Emits nothing after the end of the attempt. */
  const emitWhileRunning: Emit = (type, event) => {
    if (!attempt.ended) emit(type, event)
  }
  return async function runStep(
    step: CalledStep,
    run: (context: StepContext) => unknown,
    timeout: number | undefined,
  ): Promise<unknown> {
    const startedAt = platform.monotonic()
    const ranMs = (): number => platform.monotonic() - startedAt
    const { name, memo } = step
    let saving = Promise.resolve()
    const context: Omit<StepContext, 'signal'> = {
      name,
      idempotencyKey: idempotencyKey(lease, name),
      attempt: attempt.countsAs,
      checkpoint: parsed(memo?.checkpoint ?? null),
      saveCheckpoint(value) {
        const checkpoint = jsonText(value, `the checkpoint of step "${name}"`, BOUNDS.stepBytes, RESULT_FIX)
        const item = writeOf(step, 'run', ranMs(), { isDone: false, checkpoint })
        // Saves in order, so that the last checkpoint wins.
        saving = saving.then(() => save(item))
        // If the step does not await this promise, the end of the step reports the error.
        saving.catch(() => {})
        return saving
      },
    }
    const inStep = asStepOf(
      lease,
      async (signal: () => AbortSignal) => await run(withSignal(context, signal)),
    )
    const options = { attempt, platform, timeout, error: timedOut.bind(null, name) }
    const trace = attempt.tracing?.step?.(name)
    try {
      const running = () => withTimeout(inStep, options)
      const value = await (trace === undefined ? running() : trace.run(running))
      await saving
      const result = resultText(name, value)
      await save(writeOf(step, 'run', ranMs(), { result }))
      trace?.ended()
      emitWhileRunning('step-recorded', { ...attempt.ref, step: name, ranMs: ranMs() })
      return parsed(result)
    } catch (error) {
      trace?.ended(error)
      const failure = { ...attempt.ref, step: name, ranMs: ranMs(), error: errorText(error) }
      emitWhileRunning('step-failed', failure)
      throw error
    }
  }
}

function withSignal(context: Omit<StepContext, 'signal'>, signal: () => AbortSignal): StepContext {
  return Object.defineProperty(context, 'signal', { get: signal, enumerable: true }) as StepContext
}

/** Undefined for a step without a result. */
export function parsed(text: string | null): unknown {
  return text === null ? undefined : JSON.parse(text)
}

interface TimeoutOptions {
  readonly attempt: Attempt
  readonly platform: Platform
  /** In milliseconds; undefined for none. */
  readonly timeout: number | undefined
  readonly error: (ms: number) => JobmillError
}

/**
 * Runs a step with a signal that aborts with its attempt, or after the timeout of the step. Without a
 * timeout, no signal is created unless the step reads it.
 */
function withTimeout(
  run: (signal: () => AbortSignal) => Promise<unknown>,
  { attempt, platform, timeout, error }: TimeoutOptions,
): Promise<unknown> {
  if (timeout === undefined) return run(() => attempt.signal)
  const own = new AbortController()
  const signal = AbortSignal.any([attempt.signal, own.signal])
  return new Promise((resolve, reject) => {
    const timer = platform.timer(timeout, () => {
      const late = error(timeout)
      own.abort(late)
      reject(late)
    })
    run(() => signal)
      .then(resolve, reject)
      .finally(() => timer.cancel())
  })
}
