/** `mill.why()`: everything that blocks a job, the longest block first. */
import { checkId } from '../../job/names.ts'
import type { JobState } from '../../job/state.ts'
import type { JobRecord } from '../../store/types/job-record.ts'
import type { FullStore } from '../../store/store.ts'
import { type Reason, reasonsIn, type Scene } from './reasons.ts'

export { type Reason, type ReasonName, REASONS } from './reasons.ts'

export interface Why {
  readonly state: JobState
  /** Empty for a job that is running or has ended. */
  readonly reasons: readonly Reason[]
}

export interface Explain {
  /** Why a job is not running. Null when there is no such job. */
  why(id: string): Promise<Why | null>
}

export function explain({ opened }: { readonly opened: () => Promise<FullStore> }): Explain {
  return {
    async why(id) {
      const store = await opened()
      const [job] = await store.get([checkId(id, 'id')])
      if (job === undefined || job === null) return null
      if (job.state !== 'scheduled' && job.state !== 'ready') return { state: job.state, reasons: [] }
      return { state: job.state, reasons: reasonsIn(await sceneOf(store, job)) }
    },
  }
}

async function sceneOf(store: FullStore, job: JobRecord): Promise<Scene> {
  const [now, queues, limits, instances, attempts, counts, slots] = await Promise.all([
    store.now(),
    store.queues.list(),
    store.limits.list(),
    store.instances.list(),
    store.history(job.id),
    store.counts(),
    store.instances.slots(),
  ])
  const queue = queues.find(({ name }) => name === job.queue)
  const serving = instances.filter(({ state, queues }) => state === 'alive' && queues.includes(job.queue))
  return {
    job,
    now,
    queue,
    limit: limits.find(({ name }) => name === queue?.limit),
    serving,
    // Jobs that no process handles do not block this one.
    ahead: await store.inspect.position(job.id, [...new Set(serving.flatMap(({ kinds }) => kinds))]),
    last: attempts.at(-1),
    running: counts.find((one) => one.queue === job.queue)?.running ?? 0,
    slots: slots.filter((slot) => slot.queue === job.queue),
  }
}
