/** Converts rows to job summaries. */
import { STATE_CODE, stateOfCode } from '../../job/state.ts'
import type { JobSummary } from '../../store/types/job-record.ts'
import type { Row } from '../connection/connection.ts'
import { kindName, queueName } from '../fragments.ts'

/** OFFSET 0 prevents the planner from turning lookups by id into a scan of the whole table. */
const probe = (table: string): string =>
  `LATERAL (SELECT * FROM jobmill.${table} AS t WHERE t.id = w.id OFFSET 0)`

/**
 * For rows `w(id)`: the job `j`, the table in which it waits or runs, and its last attempt. Each lookup uses
 * an index on the id.
 */
export const SUMMARY_JOINS = `
  CROSS JOIN ${probe('job')} AS j
  LEFT JOIN ${probe('later')} AS la ON true
  LEFT JOIN ${probe('order_queue')} AS li ON true
  LEFT JOIN ${probe('ready')} AS re ON true
  LEFT JOIN ${probe('running')} AS ru ON true
  LEFT JOIN LATERAL (SELECT * FROM jobmill.attempt AS t WHERE t.job_id = w.id ORDER BY t.token DESC LIMIT 1) AS a ON true`

/** Rows of queues and kinds may be deleted while triggers are disabled. The doctor reports such ids. */
const nameOrId = (table: 'queue' | 'kind'): string => {
  const id = `j.${table}_id`
  return `coalesce(${table === 'kind' ? kindName(id) : queueName(id)}, concat('(deleted ${table} ', ${id}, ')'))`
}

export const SUMMARY_COLUMNS = `j.id, ${nameOrId('kind')} AS kind, ${nameOrId('queue')} AS queue, j.priority, j.max_attempts, j.tags, j.order_key, j.enqueued_at,
  CASE WHEN ru.id IS NOT NULL THEN ${STATE_CODE.running} WHEN re.id IS NOT NULL THEN ${STATE_CODE.ready}
       WHEN la.id IS NOT NULL OR li.id IS NOT NULL THEN ${STATE_CODE.scheduled} ELSE a.ended_as END AS state,
  CASE WHEN li.id IS NOT NULL THEN 0 ELSE coalesce(ru.attempt, re.attempt, la.attempt, a.spent) END AS attempt,
  CASE WHEN li.id IS NOT NULL THEN 0 ELSE coalesce(ru.crashes, re.crashes, la.crashes, a.crashes) END AS crashes,
  li.id IS NOT NULL AS waits_for_order, coalesce(la.due_at, li.due_at) AS due_at, ru.started_at,
  CASE WHEN a.ended_as IS NOT NULL THEN a.ended_at END AS ended_at, ru.instance, ru.cancel_reason`

export function summaryOf(row: Row): JobSummary {
  return {
    id: row['id'] as string,
    kind: row['kind'] as string,
    queue: row['queue'] as string,
    state: stateOfCode(row['state'] as number),
    priority: row['priority'] as number,
    attempt: row['attempt'] as number,
    maxAttempts: row['max_attempts'] as number,
    crashes: row['crashes'] as number,
    tags: (row['tags'] as string[] | null) ?? [],
    orderKey: row['order_key'] as string | null,
    waitsForOrder: row['waits_for_order'] as boolean,
    enqueuedAt: row['enqueued_at'] as number,
    dueAt: row['due_at'] as number | null,
    startedAt: row['started_at'] as number | null,
    endedAt: row['ended_at'] as number | null,
    instance: row['instance'] as string | null,
    cancelReason: row['cancel_reason'] as string | null,
  }
}
