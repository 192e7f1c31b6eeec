/** What a process of any release does in these tests: it takes jobs of the four kinds of proof/cluster/, and writes down every run. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kind, Work } from '../../proof/cluster/kinds.ts'
import type { How, ledgerWriter } from '../../proof/cluster/ledger.ts'

/** A process at work, whatever its release calls that. */
export interface Working {
  /** Resolves with the id of the job once it is acknowledged. */
  readonly enqueue: (kind: Kind, work: Work) => Promise<string>
  /** Ends what runs, and lets go of the store. */
  readonly stop: () => Promise<void>
}

export interface WorkingOptions {
  readonly worked: Worked
  readonly write: ReturnType<typeof ledgerWriter>['write']
  /** After an outcome was committed. */
  readonly told: () => void
}

/** How long a flaky job waits after its first attempt, which fails. */
export const RETRY_MS = 50

/** Does the work of a job, and tells how that ended. */
type Worked = (kind: Kind, work: Work, attempt: number, signal?: AbortSignal) => Promise<How>

export interface Hands {
  readonly worked: Worked
  /** From now on it holds on to what it begins, until it is to let go. */
  readonly hold: () => void
  readonly letGo: () => void
}

/** `holds` is called for each job that is held. */
export function hands(holds: () => void): Hands {
  let held: PromiseWithResolvers<void> | undefined
  return {
    hold: () => (held ??= Promise.withResolvers()),
    letGo() {
      held?.resolve()
      held = undefined
    },
    async worked(kind, work, attempt, signal) {
      if (held !== undefined) {
        holds()
        await held.promise
      }
      if (kind === 'flaky' && attempt === 1) return 'failed'
      try {
        // A tenth of what the proof lets it take.
        if (work.ms > 0) await sleep(work.ms / 10, undefined, { signal })
        return 'returned'
      } catch {
        return 'stopped'
      }
    },
  }
}
