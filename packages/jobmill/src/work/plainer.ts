/**
 * Smaller forms of an outcome that the database refuses. finish-alone.ts decides which one is written, and
 * when.
 */
import { errorText } from '../job/error-text.ts'
import type { Finish } from '../store/finish.ts'

/** Replaces a completion that cannot be written with an attempt that failed with this error. */
export type AsFailed = (error: unknown) => Finish

const UNSTORED = 'the error of this attempt could not be stored'

/**
 * The same write with less of the job's data, or null if nothing is left to omit. The next state of the job
 * stays the same, so a successful write shows that the data was at fault. A failed attempt keeps an error
 * text, so that no job is dead without one.
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
  // The reason may quote the refused text, so the last form omits it too.
  const isReplaced = item.error.startsWith(UNSTORED)
  return { ...rest, transition, error: isReplaced ? UNSTORED : `${UNSTORED}: ${errorText(error)}` }
}

/**
 * The next form that changes the state of the job, or null if there is none. Follow-ups are part of a
 * completion, so without them the attempt has failed. Every form of a failed attempt spends it, or the job
 * would be retried forever.
 */
export function reduced(item: Finish, error: unknown, asFailed: AsFailed | undefined): Finish | null {
  const { id, token, transition, outcome } = item
  if (transition.to === 'done') return asFailed?.(error) ?? null
  if (item.followUps !== undefined || item.cool !== undefined)
    return { id, token, outcome, transition, error: item.error }
  // Omits the attempt record, except for a job that ends, which needs one.
  return isRecordLeft(item) ? { id, token, outcome: null, transition } : null
}

/** Whether the attempt record is all that `reduced` can omit. */
export function isRecordLeft({ transition, outcome, followUps, cool }: Finish): boolean {
  const goesOn = transition.to === 'scheduled' || transition.to === 'ready'
  return goesOn && outcome !== null && followUps === undefined && cool === undefined
}
