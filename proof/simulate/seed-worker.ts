/** A thread that simulates the seeds it is sent, one at a time. */
import { parentPort } from 'node:worker_threads'
import type { Violation } from '../history/check.ts'
import { simulate, type Simulated } from './simulate.ts'

export interface Told extends Pick<Simulated, 'seed' | 'fingerprint' | 'troubles' | 'steps'> {
  readonly violations: readonly Violation[]
}

parentPort?.on('message', (seed: number) => {
  void simulate(seed).then(({ violations, fingerprint, troubles, steps }) => {
    const told: Told = { seed, violations, fingerprint, troubles, steps }
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
    parentPort?.postMessage(told)
  })
})
