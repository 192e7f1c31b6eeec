/** Reads steps by the primary key of `step`. */
import { type Memo, STEP_KINDS, type StepRecord } from '../../store/types/step.ts'
import { ask, type Context, run } from '../context.ts'
import { GIVEN_CTE, INPUT_IDS, NOW } from '../fragments.ts'

/** A sleep ends when its time is up. Nothing writes its end. */
const ENDED_AT = `CASE WHEN s.ended_at IS NULL AND s.events IS NULL AND s.due_at <= ${NOW} THEN s.due_at ELSE s.ended_at END`

const STEPS = `
WITH ${GIVEN_CTE}, ${INPUT_IDS}
SELECT s.job_id AS id, s.name, s.place, s.kind, s.started_at AS "startedAt", ${ENDED_AT} AS "endedAt", s.due_at AS "dueAt",
       coalesce(s.events, '{}') AS events, s.result, s.checkpoint
  FROM jobmill.step AS s WHERE s.job_id = ANY (ARRAY(SELECT id FROM input)) ORDER BY s.place`

const EXISTS = `
WITH ${GIVEN_CTE}, ${INPUT_IDS}
SELECT j.id FROM jobmill.job AS j WHERE j.id = ANY (ARRAY(SELECT id FROM input))`

type StepRow = Omit<StepRecord, 'kind'> & { readonly id: string; readonly kind: number }

export async function memos(context: Context, ids: readonly string[]): Promise<(readonly Memo[])[]> {
  if (ids.length === 0) return []
  const rows = await run<StepRow>(context, context.connection.prepared, STEPS, { ids })
  const byJob = Map.groupBy(rows, ({ id }) => id)
  return ids.map((id) => (byJob.get(id) ?? []).map(memoOf))
}

function memoOf({ name, place, kind, endedAt, result, checkpoint }: StepRow): Memo {
  return { name, place, kind: STEP_KINDS[kind] ?? 'run', isDone: endedAt !== null, result, checkpoint }
}

export async function listSteps(context: Context, id: string): Promise<StepRecord[] | null> {
  const rows = await ask<StepRow>(context, STEPS, { ids: [id] })
  if (rows.length === 0 && (await ask(context, EXISTS, { ids: [id] })).length === 0) return null
  return rows.map(({ id: _, kind, ...row }) => ({ ...row, kind: STEP_KINDS[kind] ?? 'run' }))
}
