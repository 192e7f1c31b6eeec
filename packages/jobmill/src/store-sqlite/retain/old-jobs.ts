/**
 * Ended jobs that exceed the retention of their queue. Retention by age and by number both delete the oldest,
 * which are at the front of one index range per queue and state. The counter rows show how many jobs are too
 * many.
 */
import { CANCELLED, DEAD, DONE, type JobRow } from '../job-row.ts'
import type { Lane } from '../claim/lanes.ts'
import { allQueues } from '../queues/queues.ts'
import type { Look } from '../work.ts'

// Uses the primary key.
const COUNT = `SELECT n FROM jobmill_count WHERE queue_id = ? AND state = ?`

// Reads the front of one (queue, state) range of jobmill_job_ended, so it reads only rows to delete.
const OLD = `
  SELECT pk, id, queue_id, state, tags, flags, ended_at FROM jobmill_job INDEXED BY jobmill_job_ended
  WHERE queue_id = ? AND state >= 3 AND state = ? AND ended_at <= ? AND (ended_at, id) > (?, ?)
  ORDER BY ended_at, id LIMIT ?`

export type OldJob = Pick<JobRow, 'pk' | 'id' | 'queue_id' | 'state' | 'tags' | 'flags'> & {
  readonly ended_at: number
}

/**
 * One lane per queue (of these, or of all) and state with a retention. `unwritten` has the counts that the
 * counter rows do not include yet.
 */
export function oldJobs(
  look: Look,
  queues: readonly string[] | undefined,
  unwritten: (queueId: number, state: number) => number = () => 0,
): Lane<OldJob>[] {
  return allQueues(look).flatMap((queue) => {
    if (queues?.includes(queue.name) === false) return []
    const kept = [
      [DONE, queue.retainDoneMs, queue.keepDone],
      [DEAD, queue.retainDeadMs, queue.keepDead],
      [CANCELLED, queue.retainCancelledMs, queue.keepCancelled],
    ] as const
    return kept.flatMap(([state, keepMs, keep]) => {
      const ended = (): number => countOf(look, queue.id, state) + unwritten(queue.id, state)
      const tooMany = keep === null ? 0 : ended() - keep
      if (keepMs === null && tooMany <= 0) return []
      return [
        oldLane(look, queue.id, state, { tooMany, until: keepMs === null ? EARLIEST : look.now - keepMs }),
      ]
    })
  })
}

function countOf({ sql }: Look, queueId: number, state: number): number {
  return (sql(COUNT).get(queueId, state) as { n: number } | undefined)?.n ?? 0
}

/** The first `tooMany` jobs, and all that ended by `until`. */
function oldLane(
  { sql }: Look,
  queueId: number,
  state: number,
  { tooMany, until }: { readonly tooMany: number; readonly until: number },
): Lane<OldJob> {
  let seen = 0
  const next = (after: OldJob | undefined, before: number, rows: number): OldJob[] =>
    sql(OLD).all(queueId, state, before, after?.ended_at ?? EARLIEST, after?.id ?? '', rows) as OldJob[]
  return {
    fetch(after, rows) {
      const surplus = seen < tooMany ? next(after, LATEST, Math.min(rows, tooMany - seen)) : []
      const old = surplus.length < rows ? next(surplus.at(-1) ?? after, until, rows - surplus.length) : []
      seen += surplus.length + old.length
      return [...surplus, ...old]
    },
  }
}

const [EARLIEST, LATEST] = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]

export function byEnd(a: OldJob, b: OldJob): number {
  return a.ended_at - b.ended_at || (a.id < b.id ? -1 : 1)
}
