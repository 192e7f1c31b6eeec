/**
 * What a process of any release does in the upgrade tests: it runs jobs of the four kinds of proof/cluster/
 * and records every run.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kind, Work } from '../../../proof/cluster/kinds.ts'
import type { How, ledgerWriter } from '../../../proof/cluster/ledger.ts'

/** A working process of any release. */
export interface WorkerHandle {
  /** Resolves with the id of the job once it is acknowledged. */
  readonly enqueue: (kind: Kind, work: Work) => Promise<string>
  /** Finishes the running jobs and closes the store. */
  readonly stop: () => Promise<void>
}

export interface WorkerOptions {
  readonly runJob: RunJob
  readonly write: ReturnType<typeof ledgerWriter>['write']
  /** Called after an outcome was committed. */
  readonly onOutcome: () => void
}

/** The delay of a flaky job after its first attempt, which fails. */
export const RETRY_MS = 50

/** Runs a job and returns its outcome. */
type RunJob = (kind: Kind, work: Work, attempt: number, signal?: AbortSignal) => Promise<How>

export interface JobGate {
  readonly runJob: RunJob
  /** From now on, started jobs wait until they are released. */
  readonly hold: () => void
  readonly releaseAll: () => void
}

/** `onHold` is called for each waiting job. */
export function jobGate(onHold: () => void): JobGate {
  let gate: PromiseWithResolvers<void> | undefined
  return {
    hold: () => (gate ??= Promise.withResolvers()),
    releaseAll() {
      gate?.resolve()
      gate = undefined
    },
    async runJob(kind, work, attempt, signal) {
      if (gate !== undefined) {
        onHold()
        await gate.promise
      }
      if (kind === 'flaky' && attempt === 1) return 'failed'
      try {
        // A tenth of the time in the proof.
        if (work.ms > 0) await sleep(work.ms / 10, undefined, { signal })
        return 'returned'
      } catch {
        return 'stopped'
      }
    },
  }
}
