/** Tracks the backlog from acknowledgements and worker ledgers, and detects recovery. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Mill } from 'jobmill'
import { isEnded } from 'jobmill/store'
import { nowMs } from '../cluster/clock.ts'
import type { Sent } from '../cluster/stream.ts'
import type { Workers } from '../cluster/workers.ts'

export interface Watch {
  /** Acknowledged, and not known to have ended. */
  readonly open: () => readonly Sent[]
  /** The maximum backlog during a quiet period. */
  readonly level: () => Promise<number>
  /**
   * Waits until everything acknowledged before `since` has ended and the backlog is at most `level`. Returns
   * the milliseconds since `since`; null after `withinMs`.
   */
  readonly recovered: (since: number, level: number, withinMs: number) => Promise<number | null>
}

export interface WatchOptions {
  readonly sent: readonly Sent[]
  readonly workers: Workers
  readonly mill: Mill
  readonly signal: AbortSignal
}

const LOOK_MS = 50
const LEVEL_LOOKS = 20
/** After this time the store is queried: a killed process may have finished a job without recording it. */
const ASK_AFTER_MS = 1_000
const ASKED = 100

export function watch({ sent, workers, mill, signal }: WatchOptions): Watch {
  const ended = new Set<string>()

  function open(): Sent[] {
    for (const { ledger } of workers.all) {
      ledger.read()
      for (const { id, how, reportedAt } of ledger.runs)
        if (how === 'returned' && reportedAt !== null) ended.add(id)
    }
    return sent.filter(({ id }) => id !== null && !ended.has(id))
  }

  async function ask(jobs: readonly Sent[]): Promise<void> {
    const old = jobs.filter(({ answeredAt }) => (answeredAt ?? 0) < nowMs() - ASK_AFTER_MS).slice(0, ASKED)
    // While the store is unreachable, nothing is known.
    const views = await Promise.all(old.map(({ id }) => mill.get(id ?? '').catch(() => null)))
    for (const job of views) if (job !== null && isEnded(job.state)) ended.add(job.id)
  }

  return {
    open,
    async level() {
      let most = 0
      for (let looks = 0; looks < LEVEL_LOOKS; looks += 1) {
        most = Math.max(most, open().length)
        await sleep(LOOK_MS, undefined, { signal })
      }
      return most
    },
    async recovered(since, level, withinMs) {
      while (nowMs() < since + withinMs) {
        const now = nowMs()
        const left = open()
        const old = left.filter(({ answeredAt }) => (answeredAt ?? 0) <= since)
        if (old.length === 0 && left.length <= level) return now - since
        await ask(old)
        await sleep(LOOK_MS, undefined, { signal })
      }
      return null
    },
  }
}
