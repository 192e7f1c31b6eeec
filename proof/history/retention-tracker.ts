/** Tracks which jobs are done, and until when their queues keep them. */
import type { Entry } from './entry.ts'

export interface RetentionTracker {
  see(one: Entry): void
  /** Done, and still in the store. */
  isDone(job: string, at: number): boolean
  /** Done for so long that the store may have deleted it. */
  isOld(job: string, at: number): boolean
}

export function retentionTracker(): RetentionTracker {
  const keeps = new Map<string, number>()
  const queues = new Map<string, string>()
  const doneAt = new Map<string, number>()

  function ageMs(job: string, at: number): number {
    return at - (doneAt.get(job) ?? Number.POSITIVE_INFINITY)
  }

  function keptMs(job: string): number {
    return keeps.get(queues.get(job) ?? '') ?? Number.POSITIVE_INFINITY
  }

  return {
    see(one) {
      if (one.what === 'keeps') keeps.set(one.queue, one.doneMs)
      else if (one.what === 'written') queues.set(one.job, one.queue)
      else if (one.what === 'finished' && one.accepted && one.state === 'done' && one.again !== true)
        doneAt.set(one.job, one.at)
    },
    isDone: (job, at) => doneAt.has(job) && ageMs(job, at) < keptMs(job),
    isOld: (job, at) => ageMs(job, at) >= keptMs(job),
  }
}
