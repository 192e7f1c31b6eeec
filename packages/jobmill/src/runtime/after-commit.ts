/**
 * Runs in this process after an outcome is committed: wakes the callers and queues that depend on the job.
 */
import type { Ending } from '../enqueue/results.ts'
import type { Emit } from '../job/events.ts'
import type { NewJob } from '../job/enqueue/new-job.ts'
import type { QueueSettings } from '../job/queue/queue-settings.ts'
import { isEnded } from '../job/state.ts'
import type { Limits } from '../limits/limits.ts'
import type { Lease } from '../store/types/claim.ts'
import type { Finish, Finished } from '../store/types/finish.ts'
import type { JobResult } from '../store/types/job-record.ts'
import type { Enqueued } from '../store/types/replies.ts'
import type { Attempt } from '../work/attempt.ts'

const A_WHILE_MS = 60_000

export interface AfterCommitOptions {
  readonly settings: (queue: string) => QueueSettings
  readonly served: () => readonly string[]
  readonly limits: Pick<Limits, 'ended'>
  /**
   * A job ended in this process. Callers that await it get the result without a query, even if the row is not
   * kept.
   */
  readonly jobEnded: (result: JobResult, ending: Ending) => void
  readonly jobFinished: (lease: Lease, ranMs: number | undefined) => void
  /** The attempt throttled its queue. */
  readonly settingsChanged: () => void
  /** The order lock of the job is free, or its parent may be woken. */
  readonly stageSoon: () => void
  readonly wake: (queues: readonly string[]) => void
  readonly emit: Emit
}

/** Whether the job stays in the database for a while, so that callers can query it. */
function isKept({ retainDoneMs, keepDone }: QueueSettings): boolean {
  return keepDone === null && (retainDoneMs === null || retainDoneMs > A_WHILE_MS)
}

function hasSteps({ lease, calledSteps }: Attempt): boolean {
  return lease.hasSteps === true || calledSteps.size > 0
}

export function afterCommit(
  options: AfterCommitOptions,
): (attempt: Attempt, item: Finish, finished: Finished) => void {
  const { settings, emit } = options

  /** Wakes the queue of the job and the other queues that use the same limit. */
  function permitsFreed({ lease }: Attempt): void {
    const { limit } = settings(lease.queue)
    options.limits.ended(lease, limit)
    if (limit !== null) options.wake(options.served().filter((queue) => settings(queue).limit === limit))
  }

  /** If a write was sent twice, the second reply names no follow-ups: the first write stored them. */
  function emitFollowUps(jobs: readonly NewJob[], replies: readonly Enqueued[]): void {
    jobs.forEach(({ id: minted, kind, queue }, at) => {
      const { id = minted, outcome = 'enqueued' } = replies[at] ?? {}
      if (outcome === 'duplicate') emit('duplicate', { id, kind, queue })
      else emit('enqueued', { id, kind, queue, outcome })
    })
  }

  return (attempt, item, finished) => {
    const { id, queue, orderKey, group, isChild = false } = attempt.lease
    const { transition, error = null } = item
    if (finished.state === 'done' && transition.to === 'done')
      options.jobEnded(
        { id, state: 'done', result: transition.result, error },
        { isKept: isKept(settings(queue)), mayRunAgain: hasSteps(attempt) },
      )
    if (finished.state === 'dead')
      options.jobEnded({ id, state: 'dead', result: null, error }, { isKept: true, mayRunAgain: true })
    if (item.cool !== undefined) options.settingsChanged()
    const freesSlot = group !== null && settings(queue).groupConcurrency !== null
    if (orderKey !== null || freesSlot || (isChild && finished.state !== null && isEnded(finished.state)))
      options.stageSoon()
    permitsFreed(attempt)
    options.jobFinished(attempt.lease, item.ranMs)
    if (item.followUps !== undefined && finished.state === transition.to)
      emitFollowUps(item.followUps, finished.followUps)
  }
}
