/** Maps a row of the job table to a job summary. Columns that are meaningless in the job's state are null. */
import { isEnded, stateOfCode } from '../../job/state.ts'
import type { JobSummary } from '../../store/types/job-record.ts'
import type { Look } from '../work.ts'

export const SUMMARY = `j.id, j.kind_id, j.queue_id, j.state, j.priority, j.attempt, j.max_attempts, j.crashes, j.tags,
  j.order_key, j.in_order_queue, j.enqueued_at, j.due_at, j.started_at, j.ended_at, j.cancel_reason,
  CASE j.state WHEN 2 THEN (SELECT i.id FROM jobmill_instance AS i WHERE i.pk = j.instance_pk) END AS instance`

export interface SummaryRow {
  readonly id: string
  readonly kind_id: number
  readonly queue_id: number
  readonly state: number
  readonly priority: number
  readonly attempt: number
  readonly max_attempts: number
  readonly crashes: number
  readonly tags: string | null
  readonly order_key: string | null
  readonly in_order_queue: number
  readonly enqueued_at: number
  readonly due_at: number
  readonly started_at: number | null
  readonly ended_at: number | null
  readonly cancel_reason: string | null
  readonly instance: string | null
}

export function summaryOf({ names }: Look, row: SummaryRow): JobSummary {
  const state = stateOfCode(row.state)
  return {
    id: row.id,
    kind: names.kindName(row.kind_id),
    queue: names.queueName(row.queue_id),
    state,
    priority: row.priority,
    attempt: row.attempt,
    maxAttempts: row.max_attempts,
    crashes: row.crashes,
    tags: row.tags === null ? [] : (JSON.parse(row.tags) as string[]),
    orderKey: row.order_key,
    waitsForOrder: row.in_order_queue === 1,
    enqueuedAt: row.enqueued_at,
    dueAt: state === 'scheduled' ? row.due_at : null,
    startedAt: state === 'running' ? row.started_at : null,
    endedAt: isEnded(state) ? row.ended_at : null,
    instance: row.instance,
    cancelReason: state === 'running' ? row.cancel_reason : null,
  }
}
