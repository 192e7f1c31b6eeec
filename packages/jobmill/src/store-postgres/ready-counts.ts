/** How many jobs became ready in which queues, gathered while statements run, and rung for once they are committed. */
import type { Row } from './connection.ts'
import { type Context, listOf } from './context.ts'

export interface ReadyCounts {
  /** 0 when a job waits in line: then somebody must look for its turn. */
  readonly add: (queueId: number, jobs: number) => void
  /** What READY_COUNTS tells: as text, or as a driver of the user's parsed it. */
  readonly told: (ready: unknown) => void
  /** Queues whose limit has room again: `freed` is what `freedFor` tells, the same in every row. */
  readonly freed: (rows: readonly Row[]) => void
  readonly byQueueId: ReadonlyMap<number, number>
  readonly freedQueues: ReadonlySet<string>
}

export function readyCounts(): ReadyCounts {
  const byQueueId = new Map<number, number>()
  const freedQueues = new Set<string>()
  const add: ReadyCounts['add'] = (queueId, jobs) =>
    void byQueueId.set(queueId, (byQueueId.get(queueId) ?? 0) + jobs)
  return {
    byQueueId,
    freedQueues,
    add,
    told(ready) {
      const counts: unknown = typeof ready === 'string' ? JSON.parse(ready) : ready
      for (const [id, jobs] of Object.entries(counts ?? {})) add(Number(id), Number(jobs))
    },
    freed(rows) {
      for (const queue of listOf<string>(rows[0]?.['freed'])) freedQueues.add(queue)
    },
  }
}

/** Never fails: what was written stays written, and who waits also polls. */
export async function ringFor(context: Context, { byQueueId, freedQueues }: ReadyCounts): Promise<void> {
  // Nobody knows how many jobs wait for the room.
  const freed = [...freedQueues].map((queue) => ({ queue, jobs: null }))
  try {
    await context.names.learn(byQueueId.keys(), [])
    const ready = [...byQueueId].map(([id, jobs]) => ({
      queue: context.names.queueName(id),
      jobs: Math.max(1, jobs),
    }))
    context.ring([...ready, ...freed])
  } catch {
    // The names of new queues could not be read.
    context.ring(freed)
  }
}
