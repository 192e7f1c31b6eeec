/** Deletes what the settings no longer keep, and brings counter rows together: bounded batches until nothing is left. */
import type { WriteSide } from '../store/store.ts'

const PER_BATCH = 500

export interface RetainedAll {
  readonly jobs: number
  readonly keys: number
  readonly instances: number
}

export async function retainAll(
  store: Pick<WriteSide<never>, 'retain'>,
  signal: AbortSignal,
): Promise<RetainedAll> {
  const all = { jobs: 0, keys: 0, instances: 0 }
  for (;;) {
    const { jobs, keys, instances, more } = await store.retain(PER_BATCH)
    all.jobs += jobs
    all.keys += keys
    all.instances += instances
    if (!more || signal.aborted) return all
  }
}

/** Rows that were brought together. */
export async function foldAll(store: Pick<WriteSide<never>, 'fold'>, signal: AbortSignal): Promise<number> {
  let all = 0
  for (;;) {
    const rows = await store.fold(PER_BATCH)
    all += rows
    if (rows < PER_BATCH || signal.aborted) return all
  }
}
