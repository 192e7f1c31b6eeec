/** The loop shared by the verbs that change the states of jobs. */
import { type JobState, stateOfCode } from '../../job/state.ts'
import type { Verdict } from '../../store/types/replies.ts'
import { inRounds } from '../../store/batch/rounds.ts'
import { ask, type Context } from '../context.ts'
import { GIVEN_CTE, INPUT_IDS } from '../fragments.ts'
import { statesOf } from '../inspect/job-rows.ts'
import { keptChanging, lookAgain } from '../look-again.ts'

const STATES = `
WITH ${GIVEN_CTE}, ${INPUT_IDS} ${statesOf('SELECT j.id FROM input JOIN jobmill.job AS j ON j.id = input.id')}`

export function idsField(ids: readonly string[]): string {
  return `"ids":${JSON.stringify(ids)}`
}

/** An operator's action, and the states in which looking again is useless. */
export interface OperatorVerb {
  /** Applies the action where possible. Ids missing from the result were in no table to which it applies. */
  look(ids: readonly string[]): Promise<ReadonlyMap<string, Verdict>>
  /** The verdict for a state in which the action has no effect, or undefined to look again. */
  rest(id: string, state: JobState): Verdict | undefined
}

/** A row of a job that became ready, or joined its order queue. */
export interface Moved {
  readonly id: string
  readonly queue: string | null
  readonly in_order_queue: boolean
}

export function movedVerdict({ id, in_order_queue: waits }: Moved): Verdict {
  return { id, verdict: 'changed', state: waits ? 'scheduled' : 'ready' }
}

/**
 * Applies the action, reads the states of jobs that were not found, and looks again for those to which it
 * should apply.
 */
export async function operate(
  context: Context,
  ids: readonly string[],
  verb: OperatorVerb,
): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  for (const round of inRounds([...ids.entries()], ([, id]) => id)) {
    const open = round.map(([, id]) => id)
    const settled = await untilSettled(context, open, verb)
    for (const [n, id] of round) verdicts[n] = settled.get(id) ?? { id, verdict: 'unknown', state: null }
  }
  return verdicts
}

/** Returns no verdict for a job that is unknown. */
async function untilSettled(
  context: Context,
  ids: readonly string[],
  verb: OperatorVerb,
): Promise<ReadonlyMap<string, Verdict>> {
  const settled = new Map<string, Verdict>()
  const [moving] = await lookAgain(ids, async (open) => {
    for (const [id, verdict] of await verb.look(open)) settled.set(id, verdict)
    const rest = open.filter((id) => !settled.has(id))
    if (rest.length === 0) return rest
    const again: string[] = []
    for (const { id, state } of await ask<{ id: string; state: number }>(context, STATES, { ids: rest })) {
      const verdict = verb.rest(id, stateOfCode(state))
      if (verdict === undefined) again.push(id)
      else settled.set(id, verdict)
    }
    return again
  })
  if (moving === undefined) return settled
  throw keptChanging(`job ${moving} kept changing state while it was being updated`)
}
