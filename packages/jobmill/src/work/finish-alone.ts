/**
 * Outcomes that keep failing although others are written: each is tried by itself, so that none waits for it. Whether such a one is at fault or the database is in trouble
 * shows in two ways. The same write succeeds without the job's own data; or outcomes of the same shape are written between its tries, again and again. Until one of these
 * happens nothing is judged, whatever the database says: a constraint that refuses every row is reported as an error in the data too.
 */
import { isDataError, isJobmillError } from '../job/errors.ts'
import { pauses } from '../platform/pauses.ts'
import type { Platform } from '../platform/platform.ts'
import type { Finish, Finished } from '../store/finish.ts'
import { type AsFailed, reduced, trimmed } from './plainer.ts'

/** An outcome that waits to be written. */
export interface Waiting {
  item: Finish
  /** `written` is what was written, which may be plainer than what was asked for. */
  readonly done: (finished: Finished | null, written: Finish) => void
  readonly asFailed: AsFailed | undefined
}

export interface Alone {
  add(one: Waiting): void
  /** These were written. */
  wrote(batch: readonly Waiting[]): void
  readonly isIdle: boolean
  /** Resolves when none is left. */
  readonly idle: Promise<void>
}

export interface AloneOptions {
  /** Undefined when it was written, or given up. */
  readonly attempt: (batch: readonly Waiting[]) => Promise<unknown>
  readonly platform: Platform
  readonly signal: AbortSignal
  readonly failing: (error: unknown) => void
}

/** How often it has to fail while its like is written. With the pauses in between that takes several seconds. */
const MOST_STRIKES = 8
/** The same when the database blames the data. */
const MOST_DATA_STRIKES = 3
/** How often the data has to be refused before less of it is written: an error that passes costs no result. */
const DATA_TRIES = 5
/** After so many failures in a row there is a pause. */
const MOST_IN_A_ROW = 20
const PAUSES = { firstMs: 50, longestMs: 2_000 }

interface Suspect {
  readonly waiting: Waiting
  strikes: number
  /** How often its data was refused. */
  refusals: number
  /** Outcomes of its shape were written since it failed the last time. */
  areOthersWritten: boolean
}

export function finishAlone(options: AloneOptions): Alone {
  const { attempt, platform, signal, failing } = options
  const suspects = new Set<Suspect>()
  let running: Promise<void> = Promise.resolve()

  async function run(): Promise<void> {
    const pause = pauses(platform, PAUSES)
    let failures = 0
    for (const one of inTurns(suspects)) {
      if (signal.aborted) {
        suspects.delete(one)
        one.waiting.done(null, one.waiting.item)
      } else if (await isWritten(one)) {
        suspects.delete(one)
        pause.reset()
        failures = 0
      } else {
        failures += 1
        if (failures < Math.min(suspects.size, MOST_IN_A_ROW)) continue
        await pause.wait(signal)
        failures = 0
      }
    }
  }

  async function isWritten(one: Suspect): Promise<boolean> {
    const error = await attempt([one.waiting])
    if (error === undefined) return true
    failing(error)
    if (isDataError(error)) one.refusals += 1
    if (one.refusals >= DATA_TRIES && isDataError(error) && (await isWrittenTrimmed(one, error))) return true
    if (isAtFault(one, error)) blame(one, error)
    return false
  }

  /** That the same write succeeds with less of its data is the proof that the data was at fault. When it does not, the outcome stays as it was. */
  async function isWrittenTrimmed({ waiting }: Suspect, error: unknown): Promise<boolean> {
    const { item } = waiting
    for (let form = trimmed(item, error); form !== null; form = trimmed(form, error)) {
      waiting.item = form
      const next = await attempt([waiting])
      if (next === undefined) return true
      if (!isDataError(next)) break
    }
    waiting.item = item
    return false
  }

  return {
    add(waiting) {
      suspects.add({ waiting, strikes: 0, refusals: 0, areOthersWritten: false })
      if (suspects.size === 1) running = run()
    },
    wrote(batch) {
      if (suspects.size === 0) return
      const shapes = new Set(batch.map(({ item }) => shapeOf(item)))
      for (const one of suspects)
        if (shapes.has(shapeOf(one.waiting.item)) && batch[0] !== one.waiting) one.areOthersWritten = true
    },
    get isIdle() {
      return suspects.size === 0
    },
    get idle() {
      return running
    },
  }
}

/** One after the other, again and again, those that are added meanwhile too, until none is left. */
function* inTurns<T>(all: ReadonlySet<T>): Generator<T> {
  while (all.size > 0) yield* all
}

function isAtFault(one: Suspect, error: unknown): boolean {
  // Another transaction has its row, which says nothing of what is written.
  const isLocked = isJobmillError(error) && error.code === 'STORE_BUSY'
  if (one.areOthersWritten && !isLocked) one.strikes += 1
  one.areOthersWritten = false
  if (isDataError(error)) return one.refusals >= DATA_TRIES && one.strikes >= MOST_DATA_STRIKES
  return one.strikes >= MOST_STRIKES
}

/** When there is no other form it is tried on: its lease is held, so that no handler runs twice, and a person has to look. */
function blame(one: Suspect, error: unknown): void {
  const { waiting } = one
  const { item, asFailed } = waiting
  // Of an error in the data the trimmed forms were refused already.
  const next = isDataError(error) ? null : trimmed(item, error)
  waiting.item = next ?? reduced(item, error, asFailed) ?? item
  one.strikes = 0
  one.refusals = 0
}

/** Outcomes of one shape are written to the same tables: a lock on one of them stops all of these, and says nothing of the data. */
function shapeOf({ transition, outcome, followUps, cool }: Finish): string {
  const forgets = transition.to === 'done' && transition.forget === true
  return [transition.to, forgets, outcome === null, followUps !== undefined, cool !== undefined].join(' ')
}
