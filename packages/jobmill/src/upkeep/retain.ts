/** Deletes what the settings no longer keep: bounded batches until nothing is left. */
import type { RetainRequest } from '../store/replies.ts'
import type { WriteSide } from '../store/store.ts'
import type { Counts } from './duty.ts'

const PER_BATCH = 500

export async function retainAll(
  store: Pick<WriteSide<never>, 'retain'>,
  ages: Omit<RetainRequest, 'limit'>,
  signal: AbortSignal,
): Promise<Counts> {
  const all = { jobs: 0, keys: 0, instances: 0, ticks: 0, events: 0, metrics: 0 }
  for (;;) {
    const { more, ...gone } = await store.retain({ limit: PER_BATCH, ...ages })
    for (const what of Object.keys(all) as (keyof typeof all)[]) all[what] += gone[what]
    if (!more || signal.aborted) return all
  }
}
