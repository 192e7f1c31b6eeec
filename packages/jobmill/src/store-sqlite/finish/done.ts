/** Running → done for many jobs at once: the most common transition. */
import type { Work } from '../work.ts'

// Both by primary key, after the fence was checked under the same write lock. The log was moved to the
// attempt.
const END_ONE = `UPDATE jobmill_job SET state = 3, ended_at = ?, result = ?, records = ?, log = NULL WHERE pk = ?`
const END_ALL = `
  UPDATE jobmill_job SET state = 3, ended_at = ?, result = one.result, records = one.records, log = NULL
  FROM (SELECT value ->> 0 AS pk, value ->> 1 AS result, value ->> 2 AS records FROM json_each(?)) AS one
  WHERE jobmill_job.pk = one.pk`

/** Larger results gain nothing from batching, and would make the JSON text too long. */
const LONGEST_RESULT = 4_096

export interface DoneJob {
  readonly pk: number
  readonly result: string | null
  readonly records: number
}

export function endDone({ sql, now }: Work, jobs: readonly DoneJob[]): void {
  const small = jobs.filter(({ result }) => (result?.length ?? 0) <= LONGEST_RESULT)
  const large = jobs.filter(({ result }) => (result?.length ?? 0) > LONGEST_RESULT)
  if (small.length > 0) {
    sql(END_ALL).run(now, JSON.stringify(small.map(({ pk, result, records }) => [pk, result, records])))
  }
  for (const { pk, result, records } of large) sql(END_ONE).run(now, result, records, pk)
}
