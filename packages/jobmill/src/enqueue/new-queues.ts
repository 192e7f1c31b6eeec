/**
 * Finds queues that an enqueue call is about to create although no code of this process names them: often a
 * typo, and no worker would ever serve them.
 */
import { nearest } from '../job/known-keys.ts'

interface NewQueue {
  readonly queue: string
  /** The known queue with the most similar name. */
  readonly near: string | null
}

interface NewQueuesTools {
  /** The queues that the options of this process name. */
  readonly inCode: ReadonlySet<string>
  readonly readNames: () => Promise<readonly string[]>
}

export interface NewQueues {
  /**
   * Looks up the queues that callers name, once each. Undefined when there is nothing to look up, so that
   * most calls need not wait. Never rejects: the write reports an unreachable store.
   */
  readonly find: (items: readonly { readonly queue?: string }[]) => Promise<readonly NewQueue[]> | undefined
}

/** A process that uses more names than this generates them, so none of them is a typo. */
const MOST_NAMES = 1_000

export function newQueues({ inCode, readNames }: NewQueuesTools): NewQueues {
  const seen = new Set<string>()
  /** The latest waiting call of each queue. The next call waits for it, so that they are written in order. */
  const waiting = new Map<string, Promise<unknown>>()

  async function lookUp(names: readonly string[]): Promise<readonly NewQueue[]> {
    if (names.length === 0) return []
    try {
      const known = await readNames()
      return names.flatMap((queue) =>
        known.includes(queue) ? [] : [{ queue, near: nearest(queue, [...inCode, ...known]) ?? null }],
      )
    } catch {
      return []
    }
  }

  async function find(queues: ReadonlySet<string>): Promise<readonly NewQueue[]> {
    const earlier = [...queues].map((queue) => waiting.get(queue))
    const names = [...queues].filter((queue) => !seen.has(queue)).slice(0, MOST_NAMES - seen.size)
    for (const name of names) seen.add(name)
    const [found] = await Promise.all([lookUp(names), ...earlier])
    return found
  }

  const isSettled = (queue: string): boolean =>
    inCode.has(queue) || ((seen.has(queue) || seen.size >= MOST_NAMES) && !waiting.has(queue))

  return {
    find(items) {
      let queues: Set<string> | undefined
      for (const { queue } of items)
        if (queue !== undefined && !isSettled(queue)) (queues ??= new Set()).add(queue)
      if (queues === undefined) return undefined
      const own = queues
      const found = find(own)
      for (const queue of own) waiting.set(queue, found)
      // Registered before the caller awaits it, so the entry is gone when the caller continues.
      void found.then(() => {
        for (const queue of own) if (waiting.get(queue) === found) waiting.delete(queue)
      })
      return found
    },
  }
}
