/** unserved: kinds that wait although nobody alive would take them from their queue. */
import { type Unserved, UNSERVED_ROWS } from '../../store/queue-record.ts'
import { inClaimOrder } from './claim.ts'
import { standing } from './liveness.ts'
import { byName } from './read.ts'
import type { OracleJob, OracleState } from './state.ts'

export function unserved(state: OracleState, now: number): Unserved[] {
  const living = [...state.instances.values()].filter((instance) => standing(now, instance) === 'alive')
  const isServed = ({ queue, kind }: OracleJob): boolean =>
    living.some(({ queues, kinds }) => queues.includes(queue) && kinds.includes(kind))
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
