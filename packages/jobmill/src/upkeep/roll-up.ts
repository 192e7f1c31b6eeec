/** Rolls up open counter rows and metrics, in bounded batches until none are left. */
import type { FullStore } from '../store/store.ts'
import type { Counts } from './duty.ts'

const PER_BATCH = 500

export async function rollUpAll(
  store: Pick<FullStore<never>, 'fold' | 'metrics'>,
  signal: AbortSignal,
): Promise<Counts> {
  return {
    counters: await untilDone((limit) => store.fold(limit), signal),
    metrics: await untilDone((limit) => store.metrics.rollUp(limit), signal),
  }
}

async function untilDone(batch: (limit: number) => Promise<number>, signal: AbortSignal): Promise<number> {
  let all = 0
  for (;;) {
    const rows = await batch(PER_BATCH)
    all += rows
    if (rows < PER_BATCH || signal.aborted) return all
  }
}
