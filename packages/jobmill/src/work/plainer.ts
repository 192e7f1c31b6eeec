/** Smaller forms of an outcome that the database does not take as it is. Which of them may be written, and when, is decided in finish-alone.ts. */
import { errorText } from '../job/error-text.ts'
import type { Finish } from '../store/finish.ts'

/** What is written instead of a completion that cannot be: an attempt that failed with this error. */
export type AsFailed = (error: unknown) => Finish

const UNSTORED = 'the error of this attempt could not be stored'

/**
 * The same write with less of the job's own data; null when nothing is left to omit. What happens to the job next stays the same: a completed job is done, with its
 * follow-ups, and a failed attempt keeps an error text, so that no job is dead without one. So the write itself shows whether the data was at fault.
 */
export function trimmed(item: Finish, error: unknown): Finish | null {
  const { id, token, transition, outcome, followUps, cool } = item
  const rest = { id, token, outcome, followUps, cool }
  const result = transition.to === 'done' ? transition.result : null
  if (transition.to === 'done' && result !== null) {
    const why = item.error ?? `could not be written as it was: ${errorText(error)}`
    return { ...rest, transition: { ...transition, result: null }, error: why }
  }
  if (item.log !== undefined || item.ranMs !== undefined) return { ...rest, transition, error: item.error }
  if (item.error === undefined || item.error === UNSTORED) return null
  if (transition.to === 'done') return { ...rest, transition }
  // The reason may quote the text that was refused, so there is a form without it too.
  const isReplaced = item.error.startsWith(UNSTORED)
  return { ...rest, transition, error: isReplaced ? UNSTORED : `${UNSTORED}: ${errorText(error)}` }
}

/**
 * The next form that changes what happens to the job; null when there is none. Follow-ups are part of a completion, so without them the attempt has failed, and costs
 * what a failed attempt costs. Every form of a failed attempt spends it, or the job would be run forever.
 */
export function reduced(item: Finish, error: unknown, asFailed: AsFailed | undefined): Finish | null {
  const { id, token, transition, outcome } = item
  if (transition.to === 'done') return asFailed?.(error) ?? null
  if (item.followUps !== undefined || item.cool !== undefined)
    return { id, token, outcome, transition, error: item.error }
  // Without a record of the attempt: a job cannot end without one.
  return isRecordLeft(item) ? { id, token, outcome: null, transition } : null
}

/** Whether all that `reduced` can omit is the record of the attempt. */
export function isRecordLeft({ transition, outcome, followUps, cool }: Finish): boolean {
  const goesOn = transition.to === 'scheduled' || transition.to === 'ready'
  return goesOn && outcome !== null && followUps === undefined && cool === undefined
}
