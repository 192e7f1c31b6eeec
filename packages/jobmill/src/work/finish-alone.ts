/**
 * Outcomes that keep failing although others are written: each is tried by itself, so that none waits for it. A refusal is blamed on the job only with proof, whatever
 * the database says: a constraint that refuses every row is reported as an error in the data too. The proof has two parts. Outcomes of the same shape were written
 * after the first refusal, and it was refused again after them. Or, for an error in the data, the same write succeeds without the job's own data.
 */
import { isDataError, isJobmillError } from '../job/errors.ts'
import { errorText } from '../job/error-text.ts'
import { shapeOf as errorShape } from '../job/fingerprint.ts'
import { pauses } from '../platform/pauses.ts'
import type { Platform } from '../platform/platform.ts'
import type { Held } from '../store/claim.ts'
import type { Finish, Finished } from '../store/finish.ts'
import type { Holding } from '../store/holdings.ts'
import { type AsFailed, isRecordLeft, reduced, trimmed } from './plainer.ts'
import { type Moment, shapeOf, shapeToWrite, writtenShapes } from './written-shapes.ts'

/** An outcome that waits to be written. */
export interface Waiting {
  item: Finish
  /** `written` is what was written, which may be plainer than what was asked for. */
  readonly done: (finished: Finished | null, written: Finish) => void
  readonly asFailed: AsFailed | undefined
}

/** From the first refusal of a batch until it is known which of its items are refused alone. */
export interface Watch {
  add(one: Waiting): void
  end(): void
}

export interface Alone {
  /** This batch was refused: what is written from now on tells something of its items. */
  watch(error: unknown): Watch
  /** These were written. */
  wrote(batch: readonly Waiting[], replies: readonly Finished[]): void
  readonly isIdle: boolean
  /** Resolves when none is left. */
  readonly idle: Promise<void>
}

export interface AloneOptions {
  /** Undefined when it was written, or given up. */
  readonly attempt: (batch: readonly Waiting[]) => Promise<unknown>
  /** What this instance runs, as the database has it. */
  readonly held: () => Promise<readonly Held[]>
  readonly platform: Platform
  readonly signal: AbortSignal
  readonly failing: (error: unknown) => void
}

/** How often an outcome has to be refused, for one and the same reason, and how many of its shape have to be written in between. */
const PROOF = { refusals: 15, written: 8 }
/** The same when the database blames the data. So an error that passes costs no result. */
const DATA_PROOF = { refusals: 5, written: 3 }
/** After so many failures in a row there is a pause. */
const MOST_IN_A_ROW = 20
/** So many proofs are remembered. */
const MOST_PROVEN = 1_000
const PAUSES = { firstMs: 50, longestMs: 2_000 }
/** While others of the same shape are written the database is not in trouble, and the proof is to be had soon. */
const SHORT_PAUSES = { firstMs: 500, longestMs: 500 }

interface Suspect {
  readonly waiting: Waiting
  /** Why it was refused the last time, without what varies in the text. */
  reason: string
  /** How often in a row for this reason, and what was written before the first time. */
  refusals: number
  since: Moment
  /** Of its job, once that was asked for. */
  holdings: readonly Holding[] | undefined
  /** It was proven that a refusal for this reason is about this job. */
  provenReason: string | undefined
  /** There is no form left to write it in. */
  isLastForm: boolean
}

export function finishAlone(options: AloneOptions): Alone {
  const { attempt, platform, signal, failing } = options
  const quarantine = new Set<Suspect>()
  const written = writtenShapes()
  /** For the next attempts of these jobs: which shape was proven to be refused because of the job, and for which reason. */
  const proven = new Set<string>()
  let watches = 0
  let running: Promise<void> = Promise.resolve()

  async function run(): Promise<void> {
    const pause = pauses(platform, PAUSES)
    const shortPause = pauses(platform, SHORT_PAUSES)
    let failures = 0
    for (const one of inTurns(quarantine)) {
      if (signal.aborted) {
        remove(one)
        one.waiting.done(null, one.waiting.item)
      } else if (await isWritten(one)) {
        remove(one)
        pause.reset()
        failures = 0
      } else {
        failures += 1
        if (failures < Math.min(quarantine.size, MOST_IN_A_ROW)) continue
        await (isNearProof() ? shortPause : pause).wait(signal)
        failures = 0
      }
    }
  }

  function remove(one: Suspect): void {
    quarantine.delete(one)
    forgetWritten()
  }

  function forgetWritten(): void {
    if (quarantine.size === 0 && watches === 0) written.clear()
  }

  async function isWritten(one: Suspect): Promise<boolean> {
    // Only what was written before this try says something of its refusal.
    const before = written.now()
    const error = await attempt([one.waiting])
    if (error === undefined) return true
    failing(error)
    // Another transaction has its row, which says nothing of what is written.
    if (isJobmillError(error) && error.code === 'STORE_BUSY') return false
    refused(one, error, before)
    const needed = isDataError(error) ? DATA_PROOF : PROOF
    if (one.refusals < needed.refusals) return false
    const isProven = await hasProof(one, before, needed.written)
    if (!isProven && !isDataError(error)) return false
    const reply = await writeTrimmed(one, error)
    if (reply === 'refused' && isProven) blame(one, error)
    return reply === 'written'
  }

  /** A refusal for another reason is another story: what was written before it proves nothing. */
  function refused(one: Suspect, error: unknown, before: Moment): void {
    const reason = reasonOf(error)
    if (reason !== one.reason) {
      one.reason = reason
      one.refusals = 0
      one.since = before
    }
    one.refusals += 1
  }

  async function hasProof(one: Suspect, before: Moment, count: number): Promise<boolean> {
    const { item } = one.waiting
    // The form before this one was proven to be refused for the same reason, and all that it would lose is its record.
    if (one.provenReason === one.reason && isRecordLeft(item)) return true
    if (proven.has(proofOf(one))) return true
    if (countWritten(one, before, []) < count) return false
    one.holdings = await holdingsOf(item)
    return one.holdings !== undefined && countWritten(one, before, one.holdings) >= count
  }

  function countWritten(one: Suspect, upTo: Moment, holdings: readonly Holding[]): number {
    const shape = shapeToWrite(one.waiting.item, holdings)
    return shape === null ? 0 : written.between(one.since, upTo, shape)
  }

  /** Undefined when the database does not tell, or the lease is lost: then the next try tells what became of it. */
  async function holdingsOf({ id, token }: Finish): Promise<readonly Holding[] | undefined> {
    try {
      const own = (await options.held()).find((one) => one.id === id && one.token === token)
      return own === undefined ? undefined : (own.holdings ?? [])
    } catch {
      return undefined
    }
  }

  function isNearProof(): boolean {
    const now = written.now()
    const isNear = (one: Suspect): boolean =>
      !one.isLastForm && countWritten(one, now, one.holdings ?? []) >= DATA_PROOF.written
    return now.size > 0 && [...quarantine].some(isNear)
  }

  /** That the same write succeeds with less of its data shows that the data was at fault. When it does not, the outcome stays as it was. */
  async function writeTrimmed(
    { waiting }: Suspect,
    error: unknown,
  ): Promise<'written' | 'refused' | 'unclear'> {
    const { item } = waiting
    for (let form = trimmed(item, error); form !== null; form = trimmed(form, error)) {
      waiting.item = form
      const next = await attempt([waiting])
      if (next === undefined) return 'written'
      if (isDataError(next) === isDataError(error)) continue
      waiting.item = item
      return 'unclear'
    }
    waiting.item = item
    return 'refused'
  }

  /** When there is no other form it is tried on: its lease is held, so that no handler runs twice, and a person has to look. */
  function blame(one: Suspect, error: unknown): void {
    const { waiting } = one
    remember(one)
    const next = reduced(waiting.item, error, waiting.asFailed)
    one.isLastForm = next === null
    if (next === null) return
    waiting.item = next
    one.provenReason = one.reason
    one.refusals = 0
    one.since = written.now()
  }

  function remember(one: Suspect): void {
    const proof = proofOf(one)
    proven.delete(proof)
    proven.add(proof)
    const [oldest] = proven
    if (proven.size > MOST_PROVEN && oldest !== undefined) proven.delete(oldest)
  }

  function add(waiting: Waiting, reason: string, since: Moment): void {
    quarantine.add({
      waiting,
      reason,
      refusals: 0,
      since,
      holdings: undefined,
      provenReason: undefined,
      isLastForm: false,
    })
    if (quarantine.size === 1) running = run()
  }

  return {
    watch(error) {
      watches += 1
      const [reason, since] = [reasonOf(error), written.now()]
      return {
        add: (one) => add(one, reason, since),
        end() {
          watches -= 1
          forgetWritten()
        },
      }
    },
    wrote(batch, replies) {
      if (quarantine.size === 0 && watches === 0) return
      written.add(
        batch.map(({ item }) => item),
        replies,
      )
    },
    get isIdle() {
      return quarantine.size === 0
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

function proofOf({ waiting, reason }: Suspect): string {
  return [waiting.item.id, shapeOf(waiting.item), reason].join(' ')
}

/** Two refusals for one reason differ in numbers and quoted values at most. */
function reasonOf(error: unknown): string {
  return errorShape(errorText(error))
}
