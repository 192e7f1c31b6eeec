/** Stages due jobs, in bounded batches until none are left. */
import type { FullStore } from '../store/store.ts'

const PER_PASS = 1_000

export async function stageDue(
  store: Pick<FullStore<never>, 'stage'>,
  signal: AbortSignal,
): Promise<{ readonly ready: number; readonly queues: ReadonlySet<string> }> {
  const queues = new Set<string>()
  let ready = 0
  for (;;) {
    const staged = await store.stage(PER_PASS)
    ready += staged.ready
    for (const queue of staged.queues) queues.add(queue)
    if (!staged.more || signal.aborted) return { ready, queues }
  }
}
