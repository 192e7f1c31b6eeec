/**
 * Smaller forms of an outcome that the database refuses. finish-alone.ts decides which one is written, and
 * when.
 */
import { DEFAULTS } from '../../job/defaults.ts'
import { errorText, storableText } from '../../job/text/error-text.ts'
import type { NewJob } from '../../job/enqueue/new-job.ts'
import type { Finish } from '../../store/types/finish.ts'

/** Replaces a completion that cannot be written with an attempt that failed with this error. */
export type AsFailed = (error: unknown) => Finish

export interface Candidate {
  readonly form: Finish
  /**
   * For a form that changes what happens next: the same write as the full form, without any data of the job.
   * If the database refuses a control too, the job is not at fault.
   */
  readonly controls: readonly Finish[]
}

const NOT_STORED = 'of this attempt could not be stored'
const UNSTORED = `the error ${NOT_STORED}`
const LONGEST_REASON = 1_000

/**
 * From the largest to the smallest. Follow-ups are part of a completion, so without them the attempt has
 * failed. Every form of a failed attempt spends it, or the job would be retried forever.
 */
export function* smallerForms(item: Finish, error: unknown, asFailed?: AsFailed): Generator<Candidate> {
  const { id, token, transition, outcome } = item
  const forms = trimmed(item, errorText(error, LONGEST_REASON))
  for (const form of forms) yield { form, controls: [] }
  const least = forms.at(-1) ?? item
  const { cool, followUps = [] } = least
  if (cool !== undefined) yield { form: { ...least, cool: undefined }, controls: [] }
  if (followUps.length > 0) {
    const control = { ...least, followUps: followUps.map(bland) }
    const form =
      transition.to === 'done' ? asFailed?.(error) : { ...item, cool: undefined, followUps: undefined }
    if (form === undefined) return
    yield { form, controls: [control] }
    for (const next of smallerForms(form, error))
      yield { form: next.form, controls: [control, ...next.controls] }
  } else if (outcome !== null && (transition.to === 'scheduled' || transition.to === 'ready'))
    // Without an attempt record. A job that ends needs one.
    yield { form: { id, token, outcome: null, transition }, controls: [] }
}

/**
 * Forms with less of the job's data and the same next state. Most have a note on what is missing; the last
 * has no text that the database may refuse. A failed attempt keeps an error text, so that no job is dead
 * without one.
 */
function trimmed(item: Finish, reason: string): Finish[] {
  const { id, token, outcome, transition, followUps, cool, error, log, ranMs } = item
  if (outcome === null) return []
  const rest = { id, token, outcome, transition, followUps, cool }
  if (transition.to === 'done' && transition.result !== null) {
    const note = `the ${log === undefined ? 'result' : 'result and the log'} ${NOT_STORED}`
    const done = { ...rest, transition: { ...transition, result: null } }
    return [`${note}: ${reason}`, note].map((text) => ({ ...done, error: text }))
  }
  const note = `the ${log === undefined ? 'run time' : 'log'} ${NOT_STORED}`
  if (error !== undefined) {
    const errors = [`${UNSTORED}: ${reason}`, UNSTORED]
    if ((log ?? ranMs) !== undefined) errors.unshift(withNote(error, `\n  ${note}: ${reason}`))
    return errors.map((text) => ({ ...rest, error: text }))
  }
  // Written to the log, because the error of a done job means that its result is missing.
  const logs = log === undefined ? [] : [`${note}: ${reason}`, note].map((text) => lineLike(log, text))
  if ((log ?? ranMs) === undefined) return []
  return [...logs, undefined].map((text) => ({ ...rest, log: text }))
}

function withNote(text: string, note: string): string {
  return storableText(text, DEFAULTS.errorLimitChars - note.length) + note
}

/** A log of one line, with the time of the first. */
function lineLike(log: string, message: string): string {
  const at = Number(/"at":(\d+)/.exec(log)?.[1] ?? 0)
  return JSON.stringify({ at, level: 'warn', message })
}

/** Goes to the same tables as the job, with no text that a handler chose except queue and kind. */
function bland(job: NewJob): NewJob {
  const { id, tags, metadata, dedupe, orderKey } = job
  return {
    ...job,
    payload: 'null',
    tags: tags.length === 0 ? [] : ['control'],
    metadata: metadata === null ? null : '{}',
    dedupe: dedupe === null ? null : { ...dedupe, key: `global ${id}` },
    orderKey: orderKey === null ? null : id,
  }
}
