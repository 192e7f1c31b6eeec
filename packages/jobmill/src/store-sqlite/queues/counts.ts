/** The number of jobs per queue and state, from counter rows instead of jobs. */
import { JOB_STATES, type JobState, stateOfCode } from '../../job/state.ts'
import type { QueueCounts } from '../../store/types/queue-record.ts'
import { oldestReadyAt } from '../claim/ready-lanes.ts'
import type { Look } from '../work.ts'

// At most six rows per queue, each by primary key.
const COUNTS = `
  SELECT q.id, q.name, c.state, c.n FROM jobmill_queue AS q LEFT JOIN jobmill_count AS c ON c.queue_id = q.id
  ORDER BY q.name`

interface CountRow {
  readonly id: number
  readonly name: string
  readonly state: number | null
  readonly n: number | null
}

export function counts({ sql, now }: Look): QueueCounts[] {
  const queues = new Map<string, { id: number; states: Record<JobState, number> }>()
  for (const row of sql(COUNTS).all() as CountRow[]) {
    let queue = queues.get(row.name)
    if (queue === undefined) queues.set(row.name, (queue = { id: row.id, states: none() }))
    if (row.state !== null) queue.states[stateOfCode(row.state)] = row.n ?? 0
  }
  return [...queues].map(([queue, { id, states }]) => {
    const readyAt = states.ready === 0 ? null : oldestReadyAt(sql, id)
    return { queue, ...states, oldestReadyMs: readyAt === null ? null : now - readyAt }
  })
}

function none(): Record<JobState, number> {
  return Object.fromEntries(JOB_STATES.map((state) => [state, 0])) as Record<JobState, number>
}
