/** Inline mode: `enqueue` resolves after its job has run. */
import type { MillEvent } from '../../../job/events.ts'
import type { EnqueuedJob, EnqueueItem, EnqueueOptions } from '../../../job/enqueue/handle.ts'
import type { JobKind } from '../../../job/kind/job-kind.ts'
import type { Mill } from '../../../runtime/mill.ts'
import { isEnd } from './open-attempts.ts'

export interface InlineTools {
  readonly mill: Pick<Mill, 'on'>
  /** The original functions, which do not wait. */
  readonly enqueues: Pick<Mill, 'enqueue' | 'enqueueMany' | 'job' | 'run'>
  readonly events: readonly MillEvent[]
  /** Runs jobs until none can run now, or until `isOver` returns true. */
  readonly drain: (isOver: () => boolean) => Promise<void>
}

export function inlineEnqueue({ mill, enqueues, events, drain }: InlineTools): InlineTools['enqueues'] {
  /**
   * Resolves when all of these jobs have ended, or when this mill cannot run the rest, because they are due
   * later, in a paused queue, or of another kind.
   */
  async function untilEnded(jobs: readonly EnqueuedJob[], from: number): Promise<void> {
    const left = new Set(jobs.flatMap(({ id, outcome }) => (outcome === 'duplicate' ? [] : [id])))
    const all = Promise.withResolvers<void>()
    const onEvent = (event: MillEvent): void => {
      if (isEnd(event)) left.delete(event.id)
      if (left.size === 0) all.resolve()
    }
    const stop = mill.on('*', onEvent)
    events.slice(from).forEach(onEvent)
    if (left.size > 0) await Promise.race([all.promise, drain(() => left.size === 0)])
    stop()
  }

  return {
    ...enqueues,
    async enqueue(
      target: string | JobKind,
      ...call: [] | [payload: unknown, options?: (EnqueueOptions & { readonly tx?: unknown }) | undefined]
    ) {
      const from = events.length
      const job = await enqueues.enqueue(target as string, ...(call as [unknown]))
      // Inside a transaction the job does not exist yet.
      if (call[1]?.tx === undefined) await untilEnded([job], from)
      return job as EnqueuedJob<never>
    },
    async enqueueMany(
      target: string | JobKind,
      items: readonly EnqueueItem<unknown>[],
      options: { readonly tx?: unknown } = {},
    ) {
      const from = events.length
      const jobs = await enqueues.enqueueMany(target as string, items, options)
      if (options.tx === undefined) await untilEnded(jobs, from)
      return jobs as EnqueuedJob<never>[]
    },
  }
}
