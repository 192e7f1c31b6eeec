/** Tracing of a job. Separate from run-job.ts, so that untraced jobs do not pay for these closures. */
import type { Ended } from '../job/attempt/decide.ts'
import type { AttemptTrace } from '../job/tracing.ts'
import type { Finish, Finished } from '../store/types/finish.ts'
import type { Attempt } from './attempt.ts'
import type { Finisher } from './outcome/finisher.ts'
import type { Handler } from './handler.ts'
import type { AsFailed } from './outcome/plainer.ts'
import type { RunAttempt, RunTools } from './run-attempt.ts'

/** A tracer that throws must not block the worker or lose the job. */
export function runTraced(
  trace: AttemptTrace,
  attempt: Attempt,
  handler: Handler,
  tools: RunTools & { readonly runAttempt: RunAttempt },
  end: (ended: Ended) => void,
): void {
  const run = (): Promise<Ended> =>
    trace.run(() => new Promise((resolve) => void tools.runAttempt(attempt, handler, tools, resolve)))
  void Promise.resolve()
    .then(run)
    .catch((error: unknown): Ended => ({ how: 'failed', error }))
    .then(end)
}

/** The outcome is written once, even if the tracer throws. */
export async function finishTraced(
  trace: AttemptTrace,
  write: Finisher['put'],
  item: Finish,
  asFailed: AsFailed,
): Promise<readonly [Finished | null, Finish]> {
  let as = item
  let writing: Promise<Finished | null> | undefined
  const once = (): Promise<Finished | null> =>
    (writing ??= new Promise((resolve) =>
      write(
        item,
        (finished, written) => {
          as = written
          resolve(finished)
        },
        asFailed,
      ),
    ))
  try {
    await trace.finish(once)
  } catch {
    // The reply below is the one from the database.
  }
  return [await once(), as]
}

/** The error of the handler. Undefined when it returned. */
export function thrownIn(ended: Ended): unknown {
  if ('thrown' in ended) return ended.thrown
  return 'error' in ended ? ended.error : undefined
}
