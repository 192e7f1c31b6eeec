/** A thread that simulates the seeds it is sent, one at a time. */
import { parentPort, workerData } from 'node:worker_threads'
import type { Violation } from '../../history/check.ts'
import { DEPLOYS_EVERY, simulateDeploys } from '../deploys/simulate-deploys.ts'
import { addTo, type Counts, countEntries } from './counts.ts'
import { OUTAGES_EVERY, simulateOutages } from '../faults/outages.ts'
import { simulate, type Simulated } from '../simulate.ts'

export interface SeedReport {
  readonly seed: number
  readonly violations: readonly Violation[]
  /** The same for the same seed. */
  readonly fingerprint: string
  /** The counts of history entries and faults, by name. */
  readonly happened: Counts
}

const { short } = workerData as { readonly short: boolean }

parentPort?.on('message', (seed: number) => {
  const simulated = allOf(seed).catch((cause: unknown) => {
    throw new Error(`seed ${seed} could not be simulated`, { cause })
  })
  void simulated.then((histories) => {
    const happened: Counts = {}
    for (const { history, troubles } of histories) addTo(happened, { ...countEntries(history), ...troubles })
    const report: SeedReport = {
      seed,
      violations: histories.flatMap(({ violations }) => violations),
      fingerprint: histories.map(({ fingerprint }) => fingerprint).join(' '),
      happened,
    }
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
    parentPort?.postMessage(report)
  })
})

/** Some seeds also have a history of outages, which takes longer, or one of deploys. */
async function allOf(seed: number): Promise<readonly Simulated[]> {
  const all = [await simulate(seed, { short })]
  if (seed % OUTAGES_EVERY === 0) all.push(await simulateOutages(seed))
  if (seed % DEPLOYS_EVERY === 0) all.push(await simulateDeploys(seed, { short }))
  return all
}
