/** Reads the current states of jobs, and has the loop shared by the verbs that need them. */
import { JobmillError } from '../../job/errors.ts'
import { type JobState, STATE_CODE, stateOfCode } from '../../job/state.ts'
import type { Verdict } from '../../store/types/replies.ts'
import { inRounds } from '../../store/rounds.ts'
import { type Context, run } from '../context.ts'
import { GIVEN_CTE, INPUT_IDS } from '../fragments.ts'

/**
 * The state of a job `j`: the table that has its id, or the end of its last attempt. Each lookup uses an
 * index on the id.
 */
const STATE_OF_J = `CASE
  WHEN EXISTS (SELECT FROM jobmill.running AS w WHERE w.id = j.id) THEN ${STATE_CODE.running}
  WHEN EXISTS (SELECT FROM jobmill.ready AS w WHERE w.id = j.id) THEN ${STATE_CODE.ready}
  WHEN EXISTS (SELECT FROM jobmill.later AS w WHERE w.id = j.id) THEN ${STATE_CODE.scheduled}
  WHEN EXISTS (SELECT FROM jobmill.order_queue AS w WHERE w.id = j.id) THEN ${STATE_CODE.scheduled}
  ELSE (SELECT a.ended_as FROM jobmill.attempt AS a WHERE a.job_id = j.id AND a.ended_as IS NOT NULL) END`

const STATES = `
WITH ${GIVEN_CTE}, ${INPUT_IDS}
SELECT j.id, ${STATE_OF_J} AS state FROM input JOIN jobmill.job AS j ON j.id = input.id`

async function statesOf(context: Context, ids: readonly string[]): Promise<Map<string, JobState>> {
  const rows = await run(context, context.connection.query, STATES, idsField(ids))
  return new Map(rows.map((row) => [String(row['id']), stateOfCode(Number(row['state']))]))
}

export function idsField(ids: readonly string[]): string {
  return `"ids":${JSON.stringify(ids)}`
}

/** An operator's action, and the states in which looking again is useless. */
export interface OperatorVerb {
  /** Applies the action where possible. Ids missing from the result were in no table to which it applies. */
  look(ids: readonly string[]): Promise<ReadonlyMap<string, Verdict>>
  /** The verdict for a state in which the action does nothing, or undefined to look again. */
  rest(id: string, state: JobState): Verdict | undefined
}

const MOST_LOOKS = 20

/**
 * Jobs move between tables, and one snapshot may miss a moving job. The loop applies the action, reads the
 * states of jobs that were not found, and looks again for those to which it should apply.
 */
export async function operate(
  context: Context,
  ids: readonly string[],
  verb: OperatorVerb,
): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  const at = ids.map((id, index) => ({ id, index }))
  for (const round of inRounds(at, ({ id }) => id)) {
    const settled = await untilSettled(
      context,
      round.map(({ id }) => id),
      verb,
    )
    for (const { id, index } of round)
      verdicts[index] = settled.get(id) ?? { id, verdict: 'unknown', state: null }
  }
  return verdicts
}

async function untilSettled(
  context: Context,
  ids: readonly string[],
  verb: OperatorVerb,
): Promise<ReadonlyMap<string, Verdict>> {
  const settled = new Map<string, Verdict>()
  let open = ids
  for (let looks = 0; open.length > 0 && looks < MOST_LOOKS; looks += 1) {
    for (const [id, verdict] of await verb.look(open)) settled.set(id, verdict)
    open = open.filter((id) => !settled.has(id))
    if (open.length === 0) break
    const states = await statesOf(context, open)
    for (const id of open) {
      const state = states.get(id)
      const verdict =
        state === undefined ? ({ id, verdict: 'unknown', state: null } as const) : verb.rest(id, state)
      if (verdict !== undefined) settled.set(id, verdict)
    }
    open = open.filter((id) => !settled.has(id))
  }
  if (open.length > 0)
    throw new JobmillError(
      'STORE_BUSY',
      `job ${open[0] ?? ''} kept changing state while it was being updated`,
      {
        fix: 'Retry the call',
      },
    )
  return settled
}
