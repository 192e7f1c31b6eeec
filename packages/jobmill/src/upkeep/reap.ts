/**
 * Reaps expired instances until there are none left. Every instance that notices one does this, so it need
 * not wait for a leader.
 */
import type { ReapedJob } from '../store/types/replies.ts'
import type { FullStore } from '../store/store.ts'

const INSTANCES_PER_PASS = 10

export async function reapExpired(
  store: Pick<FullStore<never>, 'instances'>,
  crashesUntilDead: number,
  signal: AbortSignal,
) {
  const all = { instances: [] as string[], jobs: [] as ReapedJob[] }
  for (;;) {
    const { instances, jobs } = await store.instances.reap({ crashesUntilDead, limit: INSTANCES_PER_PASS })
    all.instances.push(...instances)
    all.jobs.push(...jobs)
    if (instances.length < INSTANCES_PER_PASS || signal.aborted) return all
  }
}
