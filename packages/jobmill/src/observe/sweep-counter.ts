/** Counts the rows that `retain` deleted in this process, by type. */
import type { EventTable } from '../job/events.ts'
import type { Tap } from './event-hub.ts'

export interface SweepCounter {
  readonly count: Tap
  readonly totals: ReadonlyMap<string, number>
}

export function sweepCounter(): SweepCounter {
  const totals = new Map<string, number>()
  return {
    totals,
    count(type, event) {
      if (type !== 'duty-done') return
      const { duty, counts } = event as EventTable['duty-done']
      if (duty !== 'retain') return
      // Jobs are counted by their state. Their sum would count each of them twice.
      const { jobs: _, ...rows } = counts
      for (const [what, n] of Object.entries(rows)) totals.set(what, (totals.get(what) ?? 0) + n)
    },
  }
}
