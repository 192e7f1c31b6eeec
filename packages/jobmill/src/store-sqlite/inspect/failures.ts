/** How the last attempts of failed jobs ended. */
import { outcomeCode, outcomeOfCode } from '../../job/attempt/outcome.ts'
import type { JobFailure } from '../../store/types/job-record.ts'
import { DEAD } from '../job-row.ts'
import type { Look } from '../work.ts'

export const FAILED_OUTCOMES = [
  outcomeCode('failed'),
  outcomeCode('timed-out'),
  outcomeCode('failed-permanently'),
].join(', ')

// Jobs by jobmill_job_id, the newest attempt of each by primary key. A read, in a snapshot of its own.
const FAILURES = `
  SELECT j.id, a.error, a.ended_at, a.outcome
  FROM json_each(?) AS w
  CROSS JOIN jobmill_job AS j ON j.id = w.value
  CROSS JOIN jobmill_attempt AS a ON a.job_pk = j.pk
    AND a.token = (SELECT max(b.token) FROM jobmill_attempt AS b WHERE b.job_pk = j.pk)
  WHERE j.state = ${DEAD} OR a.outcome IN (${FAILED_OUTCOMES})`

interface FailureRow {
  readonly id: string
  readonly error: string | null
  readonly ended_at: number
  readonly outcome: number
}

export function failures({ sql }: Look, ids: readonly string[]): (JobFailure | null)[] {
  const rows = sql(FAILURES).all(JSON.stringify([...new Set(ids)])) as FailureRow[]
  const found = new Map(
    rows.map(({ id, error, ended_at, outcome }): [string, JobFailure] => [
      id,
      { error, at: ended_at, outcome: outcomeOfCode(outcome) },
    ]),
  )
  return ids.map((id) => found.get(id) ?? null)
}
