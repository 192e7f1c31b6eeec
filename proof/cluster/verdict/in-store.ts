/** Reads the store through the public API. */
import { setTimeout as sleep } from 'node:timers/promises'
import { isJobmillError, type Mill } from 'jobmill'
import { nowMs } from '../clock.ts'
import type { Stored } from './judge.ts'
import { QUEUE, type Work } from '../kinds.ts'

/** Waits until every job has ended; false after the timeout. */
export async function allEnded(mill: Mill, withinMs: number, signal: AbortSignal): Promise<boolean> {
  const deadline = nowMs() + withinMs
  while (nowMs() < deadline) {
    const counts = await mill.counts().catch((error: unknown) => {
      if (isJobmillError(error) && error.retryable) return null
      throw error
    })
    const waiting = counts?.reduce(
      (sum, { scheduled, ready, running }) => sum + scheduled + ready + running,
      0,
    )
    if (waiting === 0) return true
    await sleep(100, undefined, { signal })
  }
  return false
}

/** Every job of the queue, by id. */
export async function everythingIn(mill: Mill): Promise<Map<string, Stored>> {
  const stored = new Map<string, Stored>()
  let cursor: string | undefined
  do {
    const page = await mill.list({ queue: QUEUE }, { limit: 500, cursor })
    const jobs = await Promise.all(page.jobs.map(({ id }) => mill.get(id)))
    for (const job of jobs)
      if (job !== null) stored.set(job.id, { state: job.state, n: (job.payload as Work).n })
    cursor = page.next ?? undefined
  } while (cursor !== undefined)
  return stored
}

/** From the counters, without reading the jobs. */
export async function countedDone(mill: Mill): Promise<number> {
  return (await mill.counts()).reduce((sum, { queue, done }) => sum + (queue === QUEUE ? done : 0), 0)
}
