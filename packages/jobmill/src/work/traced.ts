/** What a job does when it is traced. Apart from run-job.ts, so that without tracing no job pays for what these close over. */
import type { Ended } from '../job/decide.ts'
import type { AttemptTrace } from '../job/tracing.ts'
import type { Finish, Finished } from '../store/finish.ts'
import type { Attempt } from './attempt.ts'
import type { Finisher } from './finisher.ts'
import type { Handler } from './handler.ts'
import type { AsFailed } from './plainer.ts'
import { type RunTools, runAttempt } from './run-attempt.ts'

/** What traces must not throw; if it does, the worker and the job must not be lost for the life of the process. */
export function runTraced(
  trace: AttemptTrace,
  attempt: Attempt,
  handler: Handler,
  tools: RunTools,
  end: (ended: Ended) => void,
): void {
  const run = (): Promise<Ended> =>
    trace.run(() => new Promise((resolve) => void runAttempt(attempt, handler, tools, resolve)))
  void Promise.resolve()
    .then(run)
    .catch((error: unknown): Ended => ({ how: 'failed', error }))
    .then(end)
}

/** Nor must the outcome: it is written once, whatever becomes of the trace. */
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
    // The answer below is the database's.
  }
  return [await once(), as]
}

/** What the handler threw; undefined when it returned. */
export function thrownIn(ended: Ended): unknown {
  if ('thrown' in ended) return ended.thrown
  return 'error' in ended ? ended.error : undefined
}
