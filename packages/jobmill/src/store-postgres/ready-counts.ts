/** How many jobs became ready in which queues, gathered while statements run, and rung for once they are committed. */
import type { Notification } from './notify-message.ts'
import type { Row } from './connection.ts'
import { type Context, listOf } from './context.ts'
import type { NameMap } from './name-map.ts'

export interface ReadyCounts {
  /** 0 when a job waits in line: then somebody must look for its turn. */
  readonly add: (queue: unknown, jobs: number) => void
  /** What READY_COUNTS tells of jobs whose ids are those of `map`: as text, or as a driver of the user parsed it. */
  readonly told: (ready: unknown, map: NameMap) => void
  /** The transaction that a statement ran in. */
  readonly ranIn: (row: Row | undefined) => void
  /** Its id; null when nothing was written. */
  readonly xid: () => string | null
  /** Queues whose limit has room again: `freed` is what `freedFor` tells, the same in every row. */
  readonly freed: (rows: readonly Row[]) => void
  readonly byQueue: ReadonlyMap<string, number>
  readonly freedQueues: ReadonlySet<string>
}

export function readyCounts(): ReadyCounts {
  const byQueue = new Map<string, number>()
  const freedQueues = new Set<string>()
  let xid: string | null = null
  const add: ReadyCounts['add'] = (queue, jobs) => {
    // A queue whose row was removed by hand has no name, and nobody serves it.
    if (typeof queue === 'string') byQueue.set(queue, (byQueue.get(queue) ?? 0) + jobs)
  }
  return {
    byQueue,
    freedQueues,
    add,
    told(ready, map) {
      const counts: unknown = typeof ready === 'string' ? JSON.parse(ready) : ready
      for (const [id, jobs] of Object.entries(counts ?? {})) add(map.queues.name(Number(id)), Number(jobs))
    },
    ranIn(row) {
      if (typeof row?.['xid'] === 'string') xid = row['xid']
    },
    xid: () => xid,
    freed(rows) {
      for (const queue of listOf<string>(rows[0]?.['freed'])) freedQueues.add(queue)
    },
  }
}

/** Never fails: what was written stays written, and who waits also polls. */
export function notifyFor(context: Context, counts: ReadyCounts): void {
  context.notify(notificationsOf(counts))
}

/** The same once the transaction of the user has committed. */
export function notifyAfterCommit(context: Context, counts: ReadyCounts): void {
  const xid = counts.xid()
  if (xid !== null) context.notifyAfterCommit(xid, notificationsOf(counts))
}

function notificationsOf({ byQueue, freedQueues }: ReadyCounts): Notification[] {
  const ready = [...byQueue].map(([queue, jobs]) => ({ queue, jobs: Math.max(1, jobs) }))
  // Nobody knows how many jobs wait for the room.
  const freed = [...freedQueues].map((queue) => ({ queue, jobs: null }))
  return [...ready, ...freed]
}
