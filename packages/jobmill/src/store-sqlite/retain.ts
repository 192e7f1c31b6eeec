/** Deletes what the settings no longer keep, in bounded passes. */
import { DEFAULTS } from '../job/defaults.ts'
import type { Retained } from '../store/replies.ts'
import { removeJob } from './delete.ts'
import { CANCELLED, DEAD, DONE, type JobRow } from './job-row.ts'
import { type Lane, mergeLanes } from './lanes.ts'
import type { Look, Work } from './work.ts'

const KEPT = `SELECT id, retain_done_ms, retain_cancelled_ms, retain_dead_ms FROM jobmill_queue`

// The front of one (queue, state) range of jobmill_job_ended: only rows that go are read.
const OLD = `
  SELECT pk, id, queue_id, state, tags, ended_at FROM jobmill_job INDEXED BY jobmill_job_ended
  WHERE queue_id = ? AND state >= 3 AND state = ? AND ended_at <= ? AND (ended_at, id) > (?, ?)
  ORDER BY ended_at, id LIMIT ?`

// The front of jobmill_dedupe_expiry; bounded, so that no pass holds the write lock for long.
const KEYS_AT_MOST = 10_000
const DROP_KEYS = `
  DELETE FROM jobmill_dedupe WHERE key IN (
    SELECT key FROM jobmill_dedupe INDEXED BY jobmill_dedupe_expiry
    WHERE expires_at IS NOT NULL AND expires_at <= ? ORDER BY expires_at LIMIT ${KEYS_AT_MOST})`
const OLD_KEY = `
  SELECT 1 FROM jobmill_dedupe INDEXED BY jobmill_dedupe_expiry WHERE expires_at IS NOT NULL AND expires_at <= ? LIMIT 1`

// The front of jobmill_instance_ended, each looked up in jobmill_job_running.
const FORGOTTEN = `
  jobmill_instance AS i INDEXED BY jobmill_instance_ended
  WHERE i.state > 0 AND i.ended_at <= ? AND NOT EXISTS (
    SELECT 1 FROM jobmill_job AS j INDEXED BY jobmill_job_running WHERE j.state = 2 AND j.instance_pk = i.pk)`
const DROP_INSTANCES = `DELETE FROM jobmill_instance WHERE pk IN (SELECT i.pk FROM ${FORGOTTEN})`
const OLD_INSTANCE = `SELECT 1 FROM ${FORGOTTEN} LIMIT 1`

type OldRow = Pick<JobRow, 'pk' | 'id' | 'queue_id' | 'state' | 'tags'> & { readonly ended_at: number }

export function retain(work: Work, limit: number): Retained {
  const { sql, now } = work
  const old = mergeLanes(oldJobs(work), byEnd, limit)
  for (const job of old) removeJob(work, job)
  const keys = Number(sql(DROP_KEYS).run(now).changes)
  const instances = Number(sql(DROP_INSTANCES).run(now - DEFAULTS.keepEndedInstanceMs).changes)
  return { jobs: old.length, keys, instances, more: old.length >= limit || keys >= KEYS_AT_MOST }
}

/** Whether a pass would delete something, without the write lock. */
export function mayRetain(look: Look): boolean {
  const { sql, now } = look
  return (
    oldJobs(look).some((lane) => lane.fetch(undefined, 1).length > 0) ||
    sql(OLD_KEY).get(now) !== undefined ||
    sql(OLD_INSTANCE).get(now - DEFAULTS.keepEndedInstanceMs) !== undefined
  )
}

/** A lane per queue and state that is not kept for ever. */
function oldJobs({ sql, now }: Look): Lane<OldRow>[] {
  const queues = sql(KEPT).all() as Record<
    'id' | 'retain_done_ms' | 'retain_cancelled_ms' | 'retain_dead_ms',
    number | null
  >[]
  return queues.flatMap((queue) => {
    const kept = [
      [DONE, queue.retain_done_ms],
      [DEAD, queue.retain_dead_ms],
      [CANCELLED, queue.retain_cancelled_ms],
    ] as const
    return kept.flatMap(([state, keepMs]): Lane<OldRow>[] => {
      if (keepMs === null) return []
      const until = now - keepMs
      return [
        {
          fetch: (after, rows) =>
            sql(OLD).all(queue.id, state, until, after?.ended_at ?? -1, after?.id ?? '', rows) as OldRow[],
        },
      ]
    })
  })
}

function byEnd(a: OldRow, b: OldRow): number {
  return a.ended_at - b.ended_at || (a.id < b.id ? -1 : 1)
}
