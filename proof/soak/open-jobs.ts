/**
 * Tracks open acknowledged jobs and how the others ended, by lifecycle events, and by the store for jobs of
 * another process.
 */
import { isJobmillError, type Mill } from 'jobmill'

export interface Counts {
  acknowledged: number
  done: number
  dead: number
  cancelled: number
  /** Missing in the store without a reported end. */
  lost: number
}

export interface OpenJobs {
  readonly counts: Readonly<Counts>
  readonly size: number
  readonly acknowledged: (id: string) => void
  /** Queries the store for jobs that have been open for a while, or for all. */
  readonly ask: (all?: boolean) => Promise<void>
}

/** Much shorter than the retention of ended jobs. */
const ASK_AFTER_MS = 10_000

const ENDED = { done: 'done', dead: 'dead', cancelled: 'cancelled' } as const

export function openJobs(mill: Mill): OpenJobs {
  const open = new Map<string, number>()
  const counts: Counts = { acknowledged: 0, done: 0, dead: 0, cancelled: 0, lost: 0 }
  const ended = (id: string, how: keyof Counts): void => {
    if (open.delete(id)) counts[how] += 1
  }
  mill.on('finished', ({ id }) => ended(id, 'done'))
  mill.on('dead', ({ id }) => ended(id, 'dead'))
  mill.on('cancelled', ({ id }) => ended(id, 'cancelled'))

  async function askFor(id: string): Promise<void> {
    try {
      const job = await mill.get(id)
      if (job === null) ended(id, 'lost')
      else if (job.state in ENDED) ended(id, ENDED[job.state as keyof typeof ENDED])
    } catch (error) {
      // Retried next time.
      if (!isJobmillError(error) || !error.retryable) throw error
    }
  }

  return {
    counts,
    get size() {
      return open.size
    },
    acknowledged(id) {
      counts.acknowledged += 1
      open.set(id, performance.now())
    },
    async ask(all = false) {
      const before = performance.now() - (all ? 0 : ASK_AFTER_MS)
      const ids = [...open].flatMap(([id, since]) => (since <= before ? [id] : []))
      // In batches, because a burst would be a load of its own.
      while (ids.length > 0) await Promise.all(ids.splice(0, 50).map(askFor))
    },
  }
}
