/**
 * Outcomes that keep failing although others are written: each is tried by itself, so that none waits for it. Whether such a one is at fault or the database is in trouble
 * shows by comparison. When outcomes of the same shape are written between its tries, again and again, its own data is at fault; when none is, nothing is judged.
 */
import { isDataError, isJobmillError } from '../job/errors.ts'
import { pauses } from '../platform/pauses.ts'
import type { Platform } from '../platform/platform.ts'
import type { Finish, Finished } from '../store/finish.ts'
import { type AsFailed, plainer } from './plainer.ts'

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
const PAUSES = { firstMs: 50, longestMs: 2_000 }

interface Suspect {
  readonly waiting: Waiting
  strikes: number
  /** Outcomes of its shape were written since it failed the last time. */
  areOthersWritten: boolean
}

export function finishAlone(options: AloneOptions): Alone {
  const { attempt, platform, signal, failing } = options
  const suspects = new Set<Suspect>()
  let running: Promise<void> = Promise.resolve()

  async function run(): Promise<void> {
    const pause = pauses(platform, PAUSES)
    for (const one of inTurns(suspects)) {
      if (signal.aborted) {
        suspects.delete(one)
        one.waiting.done(null, one.waiting.item)
        continue
      }
      const error = await attempt([one.waiting])
      if (error === undefined) {
        suspects.delete(one)
        pause.reset()
        continue
      }
      failing(error)
      if (isAtFault(one, error)) makePlainer(one, error)
      await pause.wait(signal)
    }
  }

  return {
    add(waiting) {
      suspects.add({ waiting, strikes: 0, areOthersWritten: false })
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
  if (isDataError(error)) return true
  // Another transaction has its row, which says nothing of what is written.
  const isLocked = isJobmillError(error) && error.code === 'STORE_BUSY'
  if (one.areOthersWritten && !isLocked) one.strikes += 1
  one.areOthersWritten = false
  return one.strikes >= MOST_STRIKES
}

/** When there is no plainer form it is tried on: its lease is held, so that no handler runs twice, and a person has to look. */
function makePlainer(one: Suspect, error: unknown): void {
  const { waiting } = one
  waiting.item = plainer(waiting.item, error, waiting.asFailed) ?? waiting.item
  one.strikes = 0
}

/** Outcomes of one shape are written to the same tables: a lock on one of them stops all of these, and says nothing of the data. */
function shapeOf({ transition, outcome, followUps, cool }: Finish): string {
  const forgets = transition.to === 'done' && transition.forget === true
  return [transition.to, forgets, outcome === null, followUps !== undefined, cool !== undefined].join(' ')
}
