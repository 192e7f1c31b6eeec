/**
 * The supervisor of a duty: one pass at the start, then one per period with jitter, or earlier on request.
 * Passes never overlap. A pass that fails or exceeds its deadline is reported, counted, and retried with
 * backoff. A cluster-wide duty rests while another instance leads it.
 */
import type { Emit } from '../job/events.ts'
import { pauses } from '../platform/pauses.ts'
import type { Platform } from '../platform/platform.ts'
import { sleep } from '../platform/sleep.ts'
import { within } from '../platform/within.ts'
import { dutyLog, type DutyStatus } from './duty-log.ts'

/** What a pass did, in numbers. */
export type Counts = Readonly<Record<string, number>>

export interface DutyOptions {
  readonly name: string
  /** Null: once at the start, and then only on request. */
  readonly everyMs: number | null
  /** Null for a continuous pass. If such a pass returns, it counts as failed. */
  readonly deadlineMs: number | null
  /**
   * Checks the signal between its batches. A continuous pass calls `works` to report success; a pass that
   * left work calls `again`.
   */
  readonly pass: (signal: AbortSignal, works: () => void, again: () => void) => Promise<Counts | void>
  /** Whether one instance performs it for the whole cluster. */
  readonly forAll: boolean
  /** Whether a pass may be late on a test clock (default false). See `TimerOptions`. */
  readonly recurring?: boolean
  /** False: a pass would find nothing to do, and is skipped, except for the first and requested ones. */
  readonly needed?: () => boolean
  /** The longest pause after failures (default: the period, or 30 s). */
  readonly longestPauseMs?: number
  readonly platform: Platform
  readonly emit: Emit
}

export type Duty = ReturnType<typeof duty>

export function duty(options: DutyOptions) {
  const { name, everyMs, forAll, platform, emit } = options
  const longestMs = Math.max(1_000, options.longestPauseMs ?? everyMs ?? 30_000)
  const pause = pauses(platform, { firstMs: 1_000, longestMs })
  const log = dutyLog(name, platform, emit)
  const rest = rester(platform, options.recurring ?? false)
  let stopping: AbortController | null = null
  let loop: Promise<void> = Promise.resolve()
  // Aborted when leadership is lost, because the new leader starts its own pass.
  let lead = new AbortController()
  let isLeading = !forAll
  let isAsked = true
  let isHanging = false
  let turn: Promise<unknown> = Promise.resolve()

  /** Serializes passes, whatever requested them. */
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
    // Async, so that a synchronous throw fails like any other error.
    const work = (async () => options.pass(AbortSignal.any([stop, ended.signal]), log.works, again))()
    try {
      const { deadlineMs } = options
      const counts = (await (deadlineMs === null ? work : within(platform, deadlineMs, name, work))) ?? {}
      if (deadlineMs === null && !stop.aborted)
        throw new Error(`${name} returned, although it should run until stopped`)
      log.succeeded(counts, platform.monotonic() - began)
      return counts
    } catch (error) {
      if (!stop.aborted) log.failed(error)
      throw error
    } finally {
      // Aborts a late pass and waits for it: it must not overlap with the next one.
      ended.abort()
      isHanging = true
      await work.catch(() => {})
      isHanging = false
    }
  }

  async function round(stop: AbortSignal): Promise<void> {
    // isLeading and isAsked record why it was woken.
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
    status: (): DutyStatus => ({ name, forAll, everyMs, ...log.status(), leading: isLeading }),
    /**
     * Whether a pass still runs past its deadline although it was aborted: another instance should then lead
     * it.
     */
    isHanging: () => isHanging,
    /** Requests a pass: at once, or right after the current one; while it fails, after its pause. */
    soon: () => {
      isAsked = true
      rest.wake()
    },
    /**
     * Runs one pass manually, even when another instance leads the duty. Resolves to its counts, or rejects.
     */
    once: () => inTurn(() => pass(stopping?.signal ?? new AbortController().signal)),
    /** Sets whether this instance leads the duty. */
    leads(now: boolean) {
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

function rester(platform: Platform, recurring: boolean) {
  let woken = new AbortController()
  return {
    /** Null: until a wake-up. */
    async until(ms: number | null, signal: AbortSignal) {
      const either = AbortSignal.any([signal, woken.signal])
      if (ms !== null) await sleep(platform, ms, either, { recurring })
      else if (!either.aborted)
        await new Promise<void>((resolve) =>
          either.addEventListener('abort', () => resolve(), { once: true }),
        )
    },
    /** Ends the rest; a wake-up before the next rest ends that one at once. */
    wake: () => woken.abort(),
    /** Drops an earlier wake-up. */
    forget() {
      if (woken.signal.aborted) woken = new AbortController()
    },
  }
}
