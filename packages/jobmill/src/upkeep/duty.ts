/**
 * The supervisor of a duty: a pass at once, then one per period with jitter, or sooner when asked. Passes never overlap. One that fails, or takes longer
 * than its deadline, is told of, counted, and made again with pauses that grow until it succeeds. A duty that one instance does for all rests while
 * another one leads it.
 */
import type { Emit } from '../job/events.ts'
import { pauses } from '../platform/pauses.ts'
import type { Platform } from '../platform/platform.ts'
import type { Service } from '../platform/service.ts'
import { within } from '../platform/within.ts'
import { dutyLog, type DutyStatus } from './duty-log.ts'
import { rester } from './rest.ts'

/** What a pass did, in numbers. */
export type Counts = Readonly<Record<string, number>>

export interface DutyOptions {
  readonly name: string
  /** Null: once at the start, and then when it is asked for. */
  readonly everyMs: number | null
  /** Null for a pass that has no end: when it returns, that is a failure. */
  readonly deadlineMs: number | null
  /**
   * Looks at the signal between its batches. One that has no end says by `works` that all is well, or nobody would know before the end; one that has left something
   * says `again`.
   */
  readonly pass: (signal: AbortSignal, works: () => void, again: () => void) => Promise<Counts | void>
  /** Whether one instance does it for the whole cluster. */
  readonly forAll: boolean
  /** False: a pass would find nothing to do. Then none is made, except the first and those that are asked for. */
  readonly needed?: () => boolean
  /** How long the pauses after failures can get (default: the period, or 30 s). */
  readonly longestPauseMs?: number
  readonly platform: Platform
  readonly emit: Emit
}

export interface Duty extends Service {
  readonly name: string
  readonly forAll: boolean
  /** A pass soon: at once, or right after the one on its way; while it fails, when its pause is over. */
  readonly soon: () => void
  /** One pass by hand, also when another instance leads the duty. Tells what it did, or rejects. */
  readonly once: () => Promise<Counts>
  /** Whether this instance leads it now. */
  readonly leads: (isLeading: boolean) => void
  /** Whether a pass goes on although it is past its deadline and was told: then somebody else should lead it. */
  readonly isHanging: () => boolean
  readonly status: () => DutyStatus
}

export function duty(options: DutyOptions): Duty {
  const { name, everyMs, forAll, platform, emit } = options
  const longestMs = Math.max(1_000, options.longestPauseMs ?? everyMs ?? 30_000)
  const pause = pauses(platform, { firstMs: 1_000, longestMs })
  const log = dutyLog(options)
  const rest = rester(platform)
  let stopping: AbortController | null = null
  let loop: Promise<void> = Promise.resolve()
  // Aborted when the lead is lost: whoever has it now begins a pass of its own.
  let lead = new AbortController()
  let isLeading = !forAll
  let isAsked = true
  let isHanging = false
  let turn: Promise<unknown> = Promise.resolve()

  /** One after the other, whoever asks for it. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = turn.then(work)
    turn = mine.catch(() => {})
    return mine
  }

  const again = (): void => {
    isAsked = true
  }

  async function pass(stop: AbortSignal): Promise<Counts> {
    const ended = new AbortController()
    const began = platform.monotonic()
    // Async, so that one that throws at once fails like any other.
    const work = (async () => options.pass(AbortSignal.any([stop, ended.signal]), log.works, again))()
    try {
      const { deadlineMs } = options
      const counts = (await (deadlineMs === null ? work : within(platform, deadlineMs, name, work))) ?? {}
      if (deadlineMs === null && !stop.aborted) throw new Error(`${name} returned, although it has no end`)
      log.succeeded(counts, platform.monotonic() - began)
      return counts
    } catch (error) {
      if (!stop.aborted) log.failed(error)
      throw error
    } finally {
      // A pass that is too late is told, and must not go on beside the next one.
      ended.abort()
      isHanging = true
      await work.catch(() => {})
      isHanging = false
    }
  }

  async function round(stop: AbortSignal): Promise<void> {
    // What it was woken for stands in isLeading and isAsked.
    rest.forget()
    if (!isLeading) return rest.until(null, stop)
    if (!isAsked && options.needed?.() === false) log.idle()
    else {
      isAsked = false
      try {
        await inTurn(() => pass(AbortSignal.any([stop, lead.signal])))
      } catch {
        isAsked = true
        return pause.wait(stop)
      }
    }
    pause.reset()
    if (!isAsked) await rest.until(everyMs === null ? null : everyMs * (0.9 + platform.random() / 5), stop)
  }

  async function run(stop: AbortSignal): Promise<void> {
    emit('duty-started', { duty: name, everyMs, deadlineMs: options.deadlineMs, forAll })
    while (!stop.aborted) await round(stop)
    emit('duty-stopped', { duty: name, passes: log.status().passes })
  }

  return {
    name,
    forAll,
    status: () => ({ ...log.status(), leading: isLeading }),
    isHanging: () => isHanging,
    soon() {
      isAsked = true
      rest.wake()
    },
    once: () => inTurn(() => pass(stopping?.signal ?? new AbortController().signal)),
    leads(now) {
      if (!forAll || now === isLeading) return
      isLeading = now
      if (now) {
        lead = new AbortController()
        isAsked = true
        emit('leading', { duty: name })
        rest.wake()
      } else {
        lead.abort()
        emit('led', { duty: name })
      }
    },
    async start() {
      if (stopping !== null) return
      stopping = new AbortController()
      loop = run(stopping.signal)
    },
    async stop() {
      stopping?.abort()
      await loop
      await turn
    },
  }
}
