/** Ready jobs: how many would be claimed before one, and which have no worker. */
import { POSITION_MOST, UNSERVED_ROWS, type UnservedKind } from 'jobmill/store'
import { inClaimOrder } from '../jobs/claim.ts'
import { instanceState } from '../instances/liveness.ts'
import { byName } from './read.ts'
import type { OracleJob, OracleState } from '../state.ts'

/** How many ready jobs would be claimed before this one. */
export function position(state: OracleState, id: string, kinds?: readonly string[]): number | null {
  const job = state.jobs.get(id)
  if (job?.state !== 'ready') return null
  const lane = inClaimOrder(state).filter(({ queue }) => queue === job.queue)
  const before = lane.slice(0, lane.indexOf(job)).filter(({ kind }) => kinds?.includes(kind) ?? true)
  return Math.min(POSITION_MOST, before.length)
}

/** Kinds with waiting jobs that no running instance handles in their queue. */
export function unservedKinds(state: OracleState, now: number): UnservedKind[] {
  const alive = [...state.instances.values()].filter((instance) => instanceState(now, instance) === 'alive')
  const isServed = ({ queue, kind }: OracleJob): boolean =>
    alive.some(({ queues, kinds }) => queues.includes(queue) && kinds.includes(kind))
  const byQueue = Map.groupBy(inClaimOrder(state), ({ queue }) => queue)
  return byName(byQueue).flatMap(([queue, jobs]) => {
    const waiting = jobs.slice(0, UNSERVED_ROWS).filter((job) => !isServed(job))
    return byName(Map.groupBy(waiting, ({ kind }) => kind)).map(([kind, alike]) => ({
      queue,
      kind,
      jobs: alike.length,
    }))
  })
}
