/** What follows a written outcome in this process: whoever waits for the job, or for what it held, hears of it. */
import type { Emit } from '../job/events.ts'
import type { NewJob } from '../job/new-job.ts'
import type { QueueSettings } from '../job/queue-settings.ts'
import type { Limits } from '../limits/limits.ts'
import type { Lease } from '../store/claim.ts'
import type { Finish, Finished } from '../store/finish.ts'
import type { JobResult } from '../store/job-record.ts'
import type { Enqueued } from '../store/replies.ts'
import type { Attempt } from '../work/attempt.ts'
import type { Paces } from '../work/paces.ts'

const A_WHILE_MS = 60_000

export interface WhenWrittenOptions {
  readonly settings: (queue: string) => QueueSettings
  readonly served: () => readonly string[]
  readonly paces: Pick<Paces, 'ran'>
  readonly limits: Pick<Limits, 'ended'>
  /** A job has ended here: whoever awaits it need not ask the database, and cannot for long where it is not kept. */
  readonly jobEnded: (result: JobResult, isKept: boolean) => void
  /** Its worker is free. */
  readonly leaseEnded: (lease: Lease) => void
  /** It cooled its queue down. */
  readonly settingsChanged: () => void
  /** Its turn is free. */
  readonly stageSoon: () => void
  readonly wake: (queues: readonly string[]) => void
  readonly emit: Emit
}

/** For a while at least, so that the database can be asked. */
function isKept({ retainDoneMs, keepDone }: QueueSettings): boolean {
  return keepDone === null && (retainDoneMs === null || retainDoneMs > A_WHILE_MS)
}

export function afterCommit(
  options: WhenWrittenOptions,
): (attempt: Attempt, item: Finish, finished: Finished) => void {
  const { settings, emit } = options

  /** Its own queue may go on, and so may others that draw on the same limit. */
  function permitsFreed({ lease }: Attempt): void {
    const { limit } = settings(lease.queue)
    options.limits.ended(lease, limit)
    if (limit !== null) options.wake(options.served().filter((queue) => settings(queue).limit === limit))
  }

  /** Of a write that was sent twice the second answer names none: they were written with the first. */
  function emitFollowUps(jobs: readonly NewJob[], replies: readonly Enqueued[]): void {
    jobs.forEach(({ id: minted, kind, queue }, at) => {
      const { id = minted, outcome = 'enqueued' } = replies[at] ?? {}
      if (outcome === 'duplicate') emit('duplicate', { id, kind, queue })
      else emit('enqueued', { id, kind, queue, outcome })
    })
  }

  return (attempt, item, finished) => {
    const { id, queue, orderKey } = attempt.lease
    const { transition, error = null } = item
    if (item.ranMs !== undefined) options.paces.ran(queue, item.ranMs)
    if (finished.state === 'done' && transition.to === 'done')
      options.jobEnded({ id, state: 'done', result: transition.result, error }, isKept(settings(queue)))
    if (finished.state === 'dead') options.jobEnded({ id, state: 'dead', result: null, error }, true)
    if (item.cool !== undefined) options.settingsChanged()
    if (orderKey !== null) options.stageSoon()
    permitsFreed(attempt)
    options.leaseEnded(attempt.lease)
    if (item.followUps !== undefined && finished.state === transition.to)
      emitFollowUps(item.followUps, finished.followUps)
  }
}
