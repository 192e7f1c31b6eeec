/** What a job does when it is traced. Apart from run-job.ts, so that without tracing no job pays for what these close over. */
import type { Ended } from '../job/decide.ts'
import type { AttemptTrace } from '../job/tracing.ts'
import type { Finish, Finished } from '../store/finish.ts'
import type { Attempt } from './attempt.ts'
import type { Finisher } from './finisher.ts'
import type { Handler } from './handler.ts'
import { type RunTools, runAttempt } from './run-attempt.ts'

export function runTraced(
  trace: AttemptTrace,
  attempt: Attempt,
  handler: Handler,
  tools: RunTools,
): Promise<Ended> {
  return trace.run(() => new Promise((resolve) => void runAttempt(attempt, handler, tools, resolve)))
}

export function finishTraced(
  trace: AttemptTrace,
  write: Finisher['put'],
  item: Finish,
): Promise<Finished | null> {
  return trace.finish(() => new Promise((resolve) => write(item, resolve)))
}

/** What the handler threw; undefined when it returned. */
export function thrownIn(ended: Ended): unknown {
  if ('thrown' in ended) return ended.thrown
  return 'error' in ended ? ended.error : undefined
}
