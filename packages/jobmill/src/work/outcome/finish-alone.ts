/**
 * Retries outcomes that keep failing while others are written, each on its own. Tries the full form and
 * rehearses a smaller one in random order. The smaller one is written only if the database kept accepting it
 * while it refused every try of the full form. An error that does not depend on the data would hit both.
 */
import { isJobmillError, isRefusal } from '../../job/errors.ts'
import { pauses } from '../../platform/pauses.ts'
import type { Platform } from '../../platform/platform.ts'
import type { Finish, Finished } from '../../store/types/finish.ts'
import { type AsFailed, type Candidate, smallerForms } from './plainer.ts'

/** An outcome that waits to be written. */
export interface Waiting {
  readonly item: Finish
  /** `written` is the stored form, which may be smaller than the requested one. */
  readonly done: (finished: Finished | null, written: Finish) => void
  readonly asFailed: AsFailed | undefined
}

export interface Alone {
  add(one: Waiting): void
  readonly isIdle: boolean
  /** Resolves when none is left. */
  readonly idle: Promise<void>
}

export interface AloneOptions {
  /** Undefined when it was written or abandoned. */
  readonly attempt: (batch: readonly Waiting[]) => Promise<unknown>
  /** Whether the database would accept these items. Changes nothing. */
  readonly rehearse: (items: readonly Finish[]) => Promise<Finished[]>
  readonly platform: Platform
  readonly signal: AbortSignal
  readonly failing: (error: unknown) => void
}

/**
 * How often a smaller form and each of its controls must be accepted, and how often the full form must be
 * refused after the first acceptance. Also how many refusals in a row end the rehearsals of a form.
 */
const PROOF = 10
/** The number of tries in a row before a pause: for each outcome while the database answers, and in total. */
const EACH_IN_A_ROW = 3
const MOST_IN_A_ROW = 20
const PAUSES = { firstMs: 50, longestMs: 500 }
/** While the database does not answer. */
const LONG_PAUSES = { firstMs: 50, longestMs: 2_000 }

/** The rehearsals of one smaller form. */
interface Trial extends Candidate {
  /** How often the form, and each control, was accepted. */
  readonly accepted: number[]
  /** Refusals of rehearsals in a row. */
  refused: number
  /** Refusals of the full form since the first accepted rehearsal. */
  fullRefused: number
}

interface Suspect {
  readonly waiting: Waiting
  /** The last refusal of the full form. */
  error: unknown
  candidates: Iterator<Candidate, void>
  /** Undefined before the first refusal, and if there is no smaller form. */
  trial: Trial | undefined
  /**
   * The reply to a write of the smaller form was lost. Only the same form may be tried next: the reply to
   * another one would not show which of them is stored.
   */
  isUnknown: boolean
}

export function finishAlone(options: AloneOptions): Alone {
  const { attempt, rehearse, platform, signal, failing } = options
  const quarantine = new Set<Suspect>()
  let isAnswering = false
  let running: Promise<void> = Promise.resolve()

  async function run(): Promise<void> {
    const pause = pauses(platform, PAUSES)
    const longPause = pauses(platform, LONG_PAUSES)
    let tries = 0
    for (const one of inTurns(quarantine)) {
      if (signal.aborted) {
        quarantine.delete(one)
        one.waiting.done(null, one.waiting.item)
      } else if (await isWritten(one)) {
        quarantine.delete(one)
        pause.reset()
        longPause.reset()
      } else {
        tries += 1
        const each = isAnswering ? EACH_IN_A_ROW : 1
        if (tries < Math.min(quarantine.size * each, MOST_IN_A_ROW)) continue
        if (isAnswering) longPause.reset()
        await (isAnswering ? pause : longPause).wait(signal)
        isAnswering = false
        tries = 0
      }
    }
  }

  /**
   * Tries the full form or rehearses a smaller one, at random, so that periodic errors cannot hit only one.
   */
  async function isWritten(one: Suspect): Promise<boolean> {
    const { waiting, trial } = one
    if (trial !== undefined && one.isUnknown) return isSmallerWritten(one, trial)
    if (trial !== undefined && platform.random() >= shareOfFull(trial)) {
      await rehearsal(one, trial)
      return false
    }
    const error = await attempt([waiting])
    if (error === undefined) return true
    failing(error)
    if (!isRefusal(error)) return false
    isAnswering = true
    one.error = error
    if (trial === undefined) startNext(one)
    else if (trial.accepted.some((times) => times > 0)) trial.fullRefused += 1
    return trial !== undefined && isProven(trial) && isSmallerWritten(one, trial)
  }

  async function rehearsal(one: Suspect, trial: Trial): Promise<void> {
    const at = trial.accepted.indexOf(Math.min(...trial.accepted))
    try {
      const [reply] = await rehearse([trial.controls[at - 1] ?? trial.form])
      isAnswering = true
      // Without a lease nothing would be written. The next try of the full form shows that too.
      if (reply?.accepted !== true || reply.again === true) return
      trial.accepted[at] = (trial.accepted[at] ?? 0) + 1
      trial.refused = 0
    } catch (error) {
      refused(one, trial, error)
    }
  }

  async function isSmallerWritten(one: Suspect, trial: Trial): Promise<boolean> {
    const error = await attempt([{ ...one.waiting, item: trial.form }])
    if (error === undefined) return true
    if (isUnknownOutcome(error)) {
      one.isUnknown = true
      return false
    }
    if (isRefusal(error)) one.isUnknown = false
    refused(one, trial, error)
    return false
  }

  function refused(one: Suspect, trial: Trial, error: unknown): void {
    if (!isRefusal(error)) return
    isAnswering = true
    trial.refused += 1
    if (trial.refused >= PROOF) startNext(one)
  }

  /** After the smallest form, starts over with the largest. */
  function startNext(one: Suspect): void {
    const { item, asFailed } = one.waiting
    let next = one.candidates.next()
    if (next.done === true) {
      one.candidates = smallerForms(item, one.error, asFailed)
      next = one.candidates.next()
    }
    const candidate = next.done === true ? undefined : next.value
    one.trial = candidate && {
      ...candidate,
      accepted: [candidate.form, ...candidate.controls].map(() => 0),
      refused: 0,
      fullRefused: 0,
    }
  }

  return {
    add(waiting) {
      quarantine.add({
        waiting,
        error: undefined,
        candidates: [].values(),
        trial: undefined,
        isUnknown: false,
      })
      if (quarantine.size === 1) running = run()
    },
    get isIdle() {
      return quarantine.size === 0
    },
    get idle() {
      return running
    },
  }
}

/** Iterates over the set again and again, including entries added later, until it is empty. */
function* inTurns<T>(all: ReadonlySet<T>): Generator<T> {
  while (all.size > 0) yield* all
}

/**
 * The probability that the next try is one of the full form rather than a rehearsal. If errors do not depend
 * on the data, the first accepted try is likely to be one of the full form, which ends the trial: that many
 * accepted rehearsals in between are then very unlikely. Without controls, fewer accepted rehearsals prove a
 * form, so the full form is tried more often.
 */
function shareOfFull({ accepted, controls }: Trial): number {
  return controls.length > 0 || accepted[0] === 0 ? 1 / 2 : 2 / 3
}

function isUnknownOutcome(error: unknown): boolean {
  return isJobmillError(error) && error.code === 'OUTCOME_UNKNOWN'
}

function isProven({ accepted, fullRefused }: Trial): boolean {
  return fullRefused >= PROOF && accepted.every((times) => times >= PROOF)
}
