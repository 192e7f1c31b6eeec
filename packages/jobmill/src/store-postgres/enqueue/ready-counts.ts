/**
 * Counts jobs that became ready, by queue, while statements run, and sends notifications after the commit.
 */
import type { Notification } from '../notifier/notify-message.ts'
import type { Row } from '../connection/connection.ts'
import { type Context, listOf } from '../context.ts'
import type { NameMap } from '../names/name-map.ts'

export interface ReadyCounts {
  /** Pass 0 for a job in an order queue, so that an instance checks for a free order lock. */
  readonly add: (queue: unknown, jobs: number) => void
  /** Adds a READY_COUNTS value for ids of `map`: as text, or as the user's driver parsed it. */
  readonly addCounts: (ready: unknown, map: NameMap) => void
  /** Stores the transaction in which a statement ran. */
  readonly noteTransaction: (row: Row | undefined) => void
  /** The id of that transaction; null if nothing was written. */
  readonly xid: () => string | null
  /** Adds queues whose limit has budget again. `freed` comes from `freedFor` and is the same in every row. */
  readonly addFreed: (rows: readonly Row[]) => void
  readonly byQueue: ReadonlyMap<string, number>
  readonly freedQueues: ReadonlySet<string>
}

export function readyCounts(): ReadyCounts {
  const byQueue = new Map<string, number>()
  const freedQueues = new Set<string>()
  let xid: string | null = null
  const add: ReadyCounts['add'] = (queue, jobs) => {
    // A queue whose row was deleted manually has no name, and no instance serves it.
    if (typeof queue === 'string') byQueue.set(queue, (byQueue.get(queue) ?? 0) + jobs)
  }
  return {
    byQueue,
    freedQueues,
    add,
    addCounts(ready, map) {
      const counts: unknown = typeof ready === 'string' ? JSON.parse(ready) : ready
      for (const [id, jobs] of Object.entries(counts ?? {})) add(map.queues.name(Number(id)), Number(jobs))
    },
    noteTransaction(row) {
      if (typeof row?.['xid'] === 'string') xid = row['xid']
    },
    xid: () => xid,
    addFreed(rows) {
      for (const queue of listOf<string>(rows[0]?.['freed'])) freedQueues.add(queue)
    },
  }
}

/** Never fails: the writes are committed, and instances also poll. */
export function notifyFor(context: Context, counts: ReadyCounts): void {
  context.notify(notificationsOf(counts))
}

/** Notifies once the user's transaction has committed. */
export function notifyAfterCommit(context: Context, counts: ReadyCounts): void {
  const xid = counts.xid()
  if (xid !== null) context.notifyAfterCommit(xid, notificationsOf(counts))
}

function notificationsOf({ byQueue, freedQueues }: ReadyCounts): Notification[] {
  const ready = [...byQueue].map(([queue, jobs]) => ({ queue, jobs: Math.max(1, jobs) }))
  // How many jobs wait for the freed budget is unknown.
  const freed = [...freedQueues].map((queue) => ({ queue, jobs: null }))
  return [...ready, ...freed]
}
