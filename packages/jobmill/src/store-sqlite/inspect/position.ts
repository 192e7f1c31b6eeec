/** How many ready jobs would be claimed before a given one. */
import { POSITION_MOST } from '../../store/types/queue-record.ts'
import { countBefore, readyKinds } from '../claim/ready-lanes.ts'
import type { Look } from '../work.ts'

// By jobmill_job_id.
const PLACE = `SELECT queue_id, priority, seq FROM jobmill_job WHERE id = ? AND state = 1`

interface Place {
  readonly queue_id: number
  readonly priority: number
  readonly seq: number
}

/** Each kind of the queue has its own lane, which is counted up to this job. */
export function position({ sql, names }: Look, id: string, kinds?: readonly string[]): number | null {
  const place = sql(PLACE).get(id) as Place | undefined
  if (place === undefined) return null
  let jobs = 0
  for (const index of ['ready', 'quarantined'] as const)
    for (const kindId of readyKinds(sql, index, place.queue_id)) {
      if (jobs >= POSITION_MOST) return POSITION_MOST
      if (kinds !== undefined && !kinds.includes(names.kindName(kindId))) continue
      jobs += countBefore(sql, index, { queueId: place.queue_id, kindId, ...place }, POSITION_MOST - jobs)
    }
  return jobs
}
