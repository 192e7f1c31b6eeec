/** A thread that simulates the seeds it is sent, one at a time. */
import { parentPort, workerData } from 'node:worker_threads'
import type { Violation } from '../history/check.ts'
import { type Counts, countEntries } from './counts.ts'
import { simulate } from './simulate.ts'

export interface Told {
  readonly seed: number
  readonly violations: readonly Violation[]
  /** The same for the same seed. */
  readonly fingerprint: string
  /** Entries of its history, and troubles, by name. */
  readonly happened: Counts
}

const { short } = workerData as { readonly short: boolean }

parentPort?.on('message', (seed: number) => {
  const simulated = simulate(seed, { short }).catch((cause: unknown) => {
    throw new Error(`seed ${seed} could not be simulated`, { cause })
  })
  void simulated.then(({ violations, history, troubles, fingerprint }) => {
    const told: Told = { seed, violations, fingerprint, happened: { ...countEntries(history), ...troubles } }
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
    parentPort?.postMessage(told)
  })
})
