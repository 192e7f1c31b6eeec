/** Where jobs are now, for verbs that answer what they found, and the loop that such verbs share. */
import { JobmillError } from '../job/errors.ts'
import { type JobState, STATE_CODE, stateOfCode } from '../job/state.ts'
import type { Verdict } from '../store/replies.ts'
import { inRounds } from '../store/rounds.ts'
import { type Context, run } from './context.ts'
import { GIVEN, INPUT_IDS } from './fragments.ts'

/** The state of a job `j`: the table that its id is in, else how its last attempt ended. Each by an index on the id. */
const STATE_OF_J = `CASE
  WHEN EXISTS (SELECT FROM jobmill.running AS w WHERE w.id = j.id) THEN ${STATE_CODE.running}
  WHEN EXISTS (SELECT FROM jobmill.ready AS w WHERE w.id = j.id) THEN ${STATE_CODE.ready}
  WHEN EXISTS (SELECT FROM jobmill.later AS w WHERE w.id = j.id) THEN ${STATE_CODE.scheduled}
  WHEN EXISTS (SELECT FROM jobmill.order_queue AS w WHERE w.id = j.id) THEN ${STATE_CODE.scheduled}
  ELSE (SELECT a.ended_as FROM jobmill.attempt AS a WHERE a.job_id = j.id AND a.ended_as IS NOT NULL) END`

const STATES = `
WITH ${GIVEN}, ${INPUT_IDS}
SELECT j.id, ${STATE_OF_J} AS state FROM input JOIN jobmill.job AS j ON j.id = input.id`

async function statesOf(context: Context, ids: readonly string[]): Promise<Map<string, JobState>> {
  const rows = await run(context, context.connection.query, STATES, idsField(ids))
  return new Map(rows.map((row) => [String(row['id']), stateOfCode(Number(row['state']))]))
}

export function idsField(ids: readonly string[]): string {
  return `"ids":${JSON.stringify(ids)}`
}

/** What one look did, and which states mean that looking again is of no use. */
export interface OperatorVerb {
  /** Settles what it can of these ids; what it leaves out was not in a place where the verb does something. */
  look(ids: readonly string[]): Promise<ReadonlyMap<string, Verdict>>
  /** The verdict on a job that is in a state in which the verb does nothing, or undefined to look again. */
  rest(id: string, state: JobState): Verdict | undefined
}

const MOST_LOOKS = 20

/**
 * Jobs move between tables while a verb looks for them, and one snapshot may miss a job that moves. So: look, read the states
 * of those not found, look again for those that should have been.
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
    throw new JobmillError('STORE_BUSY', `job ${open[0] ?? ''} moved too often to be caught`)
  return settled
}
