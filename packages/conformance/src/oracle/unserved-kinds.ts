/** unservedKinds: kinds with waiting jobs that no running instance handles in their queue. */
import { UNSERVED_ROWS, type UnservedKind } from 'jobmill/store'
import { inClaimOrder } from './claim.ts'
import { instanceState } from './liveness.ts'
import { byName } from './read.ts'
import type { OracleJob, OracleState } from './state.ts'

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
