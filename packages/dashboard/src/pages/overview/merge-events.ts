/** Merges events that say the same: several processes report each change of a queue. */
import type { TimelineEntry } from '../../api/types.ts'

export interface MergedEvent {
  readonly event: TimelineEntry
  /** The number of processes that reported it. */
  readonly processes: number
}

/** Processes notice a change within seconds of each other. */
const TOGETHER_MS = 15_000

/** Newest first. A change in the audit log replaces what processes reported about it: it says who made it. */
export function mergeEvents(events: readonly TimelineEntry[]): MergedEvent[] {
  const merged: (MergedEvent & { readonly reporters: Set<string> })[] = []
  for (const event of events) {
    const same = merged.find(({ event: other }) => isNear(event, other) && keyOf(event) === keyOf(other))
    if (same === undefined) merged.push({ event, processes: 1, reporters: new Set([event.instance]) })
    else same.reporters.add(event.instance)
  }
  return merged
    .filter(({ event }) => !events.some((other) => isNear(event, other) && explains(other, event)))
    .map(({ event, reporters }) => ({ event, processes: reporters.size }))
}

const isNear = (a: TimelineEntry, b: TimelineEntry): boolean => Math.abs(a.at - b.at) <= TOGETHER_MS

/** Without fields, an event that each process reports about itself stays on its own. */
function keyOf({ n, type, queue, job, data }: TimelineEntry): string {
  if (type === 'audit' || (queue === null && Object.keys(data).length === 0)) return String(n)
  // A cool-down ends at the same time everywhere, so its rest differs.
  const { forMs: _, instance: _1, ...rest } = data
  return JSON.stringify([type, queue, job, rest])
}

function explains(audit: TimelineEntry, { type, queue }: TimelineEntry): boolean {
  return audit.type === 'audit' && type === 'queue-changed' && audit.queue === queue
}
