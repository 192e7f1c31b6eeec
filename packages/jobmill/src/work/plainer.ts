/** Forms of an outcome, each plainer than the one before, for one that the database will never take as it is. */
import { errorText } from '../job/error-text.ts'
import type { Finish, Transition } from '../store/finish.ts'

/** What is written instead of a completion that cannot be: an attempt that failed with this error. */
export type AsFailed = (error: unknown) => Finish

/**
 * The next form after a refusal; null when there is none plainer.
 *
 * The work of a handler that returned has happened, so losing its log or its result does not undo it. Follow-ups were part of the completion: without them the attempt
 * has failed, and costs what a failed attempt costs. Every form of a failed attempt spends it, or the job would be run for ever.
 */
export function plainer(item: Finish, error: unknown, asFailed: AsFailed | undefined): Finish | null {
  const { id, token, transition, outcome, followUps, cool } = item
  const isDone = transition.to === 'done'
  if (isDone && followUps !== undefined && asFailed !== undefined) return asFailed(error)
  const isResultLost = isDone && transition.result !== null
  if (isResultLost || item.log !== undefined || item.ranMs !== undefined) {
    const why = isResultLost ? `could not be written as it was: ${errorText(error)}` : undefined
    return {
      id,
      token,
      outcome,
      transition: withoutResult(transition),
      error: item.error ?? why,
      followUps,
      cool,
    }
  }
  if (item.error !== undefined || followUps !== undefined || cool !== undefined)
    return { id, token, outcome, transition }
  if (isDone && asFailed !== undefined) return asFailed(error)
  // Without a record of the attempt: a job cannot end without one.
  if (outcome !== null && (transition.to === 'scheduled' || transition.to === 'ready'))
    return { id, token, outcome: null, transition }
  return null
}

function withoutResult(transition: Transition): Transition {
  return transition.to === 'done' ? { ...transition, result: null } : transition
}
