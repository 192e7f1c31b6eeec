/**
 * Retries outcomes that keep failing while others are written, each on its own. A refusal is blamed on the
 * job only with proof, because a constraint that refuses every row also looks like a data error. Proof:
 * outcomes of the same shape were written between two refusals; or, for a data error, the write succeeds
 * without the job's own data.
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
  /** `written` is the stored form, which may be smaller than the requested one. */
  readonly done: (finished: Finished | null, written: Finish) => void
  readonly asFailed: AsFailed | undefined
}

/** Lasts from the first refusal of a batch until the items that fail on their own are known. */
export interface Watch {
  add(one: Waiting): void
  end(): void
}

export interface Alone {
  /** This batch was refused. Outcomes written from now on are evidence about its items. */
  watch(error: unknown): Watch
  /** These outcomes were written. */
  wrote(batch: readonly Waiting[], replies: readonly Finished[]): void
  readonly isIdle: boolean
  /** Resolves when none is left. */
  readonly idle: Promise<void>
}

export interface AloneOptions {
  /** Undefined when it was written or abandoned. */
  readonly attempt: (batch: readonly Waiting[]) => Promise<unknown>
  /** The leases of this instance according to the database. */
  readonly held: () => Promise<readonly Held[]>
  readonly platform: Platform
  readonly signal: AbortSignal
  readonly failing: (error: unknown) => void
}

/**
 * How often an outcome must be refused for the same reason, and how many of its shape must be written in
 * between.
 */
const PROOF = { refusals: 15, written: 8 }
/**
 * The same for an error that the database calls a data error. Several refusals are required, so that a
 * transient error costs no result.
 */
const DATA_PROOF = { refusals: 5, written: 3 }
/** The number of failures in a row before a pause. */
const MOST_IN_A_ROW = 20
/** The number of proofs remembered. */
const MOST_PROVEN = 1_000
const PAUSES = { firstMs: 50, longestMs: 2_000 }
/** While outcomes of the same shape are written the database works, so short pauses lead to proof soon. */
const SHORT_PAUSES = { firstMs: 500, longestMs: 500 }

interface Suspect {
  readonly waiting: Waiting
  /** The reason of the last refusal, without the variable parts of its text. */
  reason: string
  /** The number of refusals in a row for this reason, and what was written before the first. */
  refusals: number
  since: Moment
  /** What its job holds, once it was read. */
  holdings: readonly Holding[] | undefined
  /** The reason for which it was proven that the refusal is about this job. */
  provenReason: string | undefined
  /** No smaller form is left to write. */
  isLastForm: boolean
}

export function finishAlone(options: AloneOptions): Alone {
  const { attempt, platform, signal, failing } = options
  const quarantine = new Set<Suspect>()
  const written = writtenShapes()
  /**
   * Remembered for later attempts of these jobs: which shape was refused because of the job, and for which
   * reason.
   */
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
    // Only outcomes written before this try are evidence about its refusal.
    const before = written.now()
    const error = await attempt([one.waiting])
    if (error === undefined) return true
    failing(error)
    // Another transaction holds the row, which is no evidence about the data.
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

  /** A refusal for another reason starts over: earlier writes prove nothing about it. */
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
    // The previous form was proven to be refused for the same reason, and only the attempt record would be
    // lost.
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

  /**
   * Undefined if the database does not answer or the lease is lost. The next try then shows what happened.
   */
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

  /**
   * If the write succeeds with less of the job's data, the data was at fault. Otherwise the outcome stays as
   * it was.
   */
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

  /**
   * Without a smaller form it is retried. Its lease is kept, so that no handler runs twice, until an operator
   * intervenes.
   */
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

/** Iterates over the set again and again, including entries added later, until it is empty. */
function* inTurns<T>(all: ReadonlySet<T>): Generator<T> {
  while (all.size > 0) yield* all
}

function proofOf({ waiting, reason }: Suspect): string {
  return [waiting.item.id, shapeOf(waiting.item), reason].join(' ')
}

/** Two refusals with the same reason differ only in numbers and quoted values. */
function reasonOf(error: unknown): string {
  return errorShape(errorText(error))
}
