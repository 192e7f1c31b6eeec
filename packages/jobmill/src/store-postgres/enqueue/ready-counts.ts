/**
 * Counts jobs that became ready, by queue, while statements run, and sends notifications after the commit.
 */
import type { Notification } from '../notifier/notify-message.ts'
import type { Row } from '../connection/connection.ts'
import { type Context, listOf } from '../context.ts'
import type { NameMap } from '../names/name-map.ts'

export type ReadyCounts = ReturnType<typeof readyCounts>

export function readyCounts() {
  const byQueue = new Map<string, number>()
  const freedQueues = new Set<string>()
  const lookQueues = new Set<string>()
  let xid: string | null = null
  /** Pass 0 for a job in an order queue, so that an instance checks for a free order lock. */
  function add(queue: unknown, jobs: number): void {
    // A queue whose row was deleted manually has no name, and no instance serves it.
    if (typeof queue === 'string') byQueue.set(queue, (byQueue.get(queue) ?? 0) + jobs)
  }
  return {
    byQueue,
    freedQueues,
    lookQueues,
    add,
    /** Adds the queue of a job that will be due soon, or whose order lock must be checked. */
    addLook(queue: unknown): void {
      if (typeof queue === 'string') lookQueues.add(queue)
    },
    /** Adds the ready jobs by queue id of `map`: as JSON text, or as the user's driver parsed it. */
    addCounts(ready: unknown, map: NameMap): void {
      const counts: unknown = typeof ready === 'string' ? JSON.parse(ready) : ready
      for (const [id, jobs] of Object.entries(counts ?? {})) add(map.queues.name(Number(id)), Number(jobs))
    },
    /** Adds queues whose limit has budget again. `freed`, of `freedFor`, is the same in every row. */
    addFreed(rows: readonly Row[]): void {
      for (const queue of listOf<string>(rows[0]?.['freed'])) freedQueues.add(queue)
    },
    /** Stores the transaction in which a statement ran. */
    noteTransaction(row: Row | undefined): void {
      if (typeof row?.['xid'] === 'string') xid = row['xid']
    },
    /** The id of that transaction; null if nothing was written. */
    xid: (): string | null => xid,
  }
}

/** Never fails: the writes are committed, and instances also poll. */
export function notifyFor({ notifier }: Context, counts: ReadyCounts): void {
  notifier.notify(notificationsOf(counts))
}

/** Notifies once the user's transaction has committed. */
export function notifyAfterCommit({ commits }: Context, counts: ReadyCounts): void {
  const xid = counts.xid()
  if (xid !== null) commits.add(xid, notificationsOf(counts))
}

/** For queues that may run more jobs than before. How many is unknown. */
export function notifyQueues({ notifier }: Pick<Context, 'notifier'>, queues: Iterable<string>): void {
  notifier.notify(unknownJobs(queues))
}

function unknownJobs(queues: Iterable<string>): Notification[] {
  return Array.from(queues, (queue) => ({ queue, jobs: null }))
}

function notificationsOf({ byQueue, freedQueues, lookQueues }: ReadyCounts): Notification[] {
  const ready = [...byQueue].map(([queue, jobs]) => ({ queue, jobs: Math.max(1, jobs) }))
  const looks = [...lookQueues].map((queue) => ({ queue, jobs: 0 }))
  return [...ready, ...unknownJobs(freedQueues), ...looks]
}
