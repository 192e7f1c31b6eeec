/** The text for a queue that runs more jobs than its number of workers. */
import type { JobSummary } from '../../../api/types.ts'
import { number } from '../../../kit/text/format.ts'
import type { Server } from '../serving.ts'

/** A younger job may be prefetched: it is leased, and has not started. */
const STARTED_MS = 2_000

interface Over {
  readonly running: readonly Pick<JobSummary, 'instance' | 'startedAt'>[]
  /** The processes that claim from the queue, with their shares. */
  readonly servers: readonly Server[]
  readonly workers: number
  readonly now: number
}

/** Null if no more jobs run than the queue has workers. */
export function overLimitText({ running, servers, workers, now }: Over): string | null {
  const started = running.filter(({ startedAt }) => startedAt !== null && now - startedAt >= STARTED_MS)
  if (started.length <= workers) return null
  const shares = new Map(servers.map(({ instance, workers: share }) => [instance.id, share ?? 0]))
  const over = [...Map.groupBy(started, ({ instance }) => instance)].flatMap(([instance, jobs]) => {
    const isServing = instance !== null && shares.has(instance)
    const jobsOver = jobs.length - (isServing ? (shares.get(instance) ?? 0) : 0)
    return jobsOver > 0 ? [{ jobs: jobsOver, isServing }] : []
  })
  const left = over.filter(({ isServing }) => !isServing).reduce((sum, { jobs }) => sum + jobs, 0)
  const lost = over.filter(({ isServing }) => isServing).reduce((sum, { jobs }) => sum + jobs, 0)
  const parts = [
    ...(left > 0 ? [`a quiet or stopping process still runs ${number(left)}`] : []),
    ...(lost > 0 ? [`a process that lost its lease or part of its share still runs ${number(lost)}`] : []),
  ]
  return `${number(started.length)} running, limit ${number(workers)}: ${parts.join('; ')}`
}
