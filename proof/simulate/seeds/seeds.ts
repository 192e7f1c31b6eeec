/** Simulates many seeds on all cores. */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Options } from '../options.ts'
import type { SeedReport } from './seed-worker.ts'

/** Distributes seeds one by one, so that no core is idle. */
export async function simulateSeeds(
  { first, seeds, untilBroken, short }: Options,
  report: (one: SeedReport) => void,
): Promise<void> {
  let next = first
  let isOver = false
  const take = (): number | null => (next < first + seeds && !isOver ? next++ : null)
  const cores = Math.min(seeds, availableParallelism())
  await Promise.all(
    Array.from({ length: cores }, async () => {
      const worker = new Worker(new URL('seed-worker.ts', import.meta.url), { workerData: { short } })
      try {
        await new Promise<void>((resolve, reject) => {
          const ask = (): void => {
            const seed = take()
            if (seed === null) resolve()
            // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
            else worker.postMessage(seed)
          }
          worker.on('message', (one: SeedReport) => {
            report(one)
            isOver ||= untilBroken && one.violations.length > 0
            ask()
          })
          worker.on('error', reject)
          ask()
        })
      } finally {
        await worker.terminate()
      }
    }),
  )
}
