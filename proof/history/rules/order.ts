/**
 * Within a queue and a kind, jobs that are ready when written are first leased by priority, then in order of
 * writing. A claim takes any number of them in order. Kinds are separate because an instance claims only
 * those it has a handler for.
 */
import type { Entry, Written } from '../entry.ts'
import type { Violation } from '../violation.ts'

/** Written and not leased, by priority, in order. */
type Lane = Map<number, Set<string>>

export function orderKept(history: readonly Entry[]): Violation[] {
  const lanes = new Map<string, Lane>()
  const laneOfJob = new Map<string, Lane>()
  const violations: Violation[] = []

  const laneFor = ({ queue, kind }: Written): Lane => {
    const key = JSON.stringify([queue, kind])
    const lane = lanes.get(key) ?? new Map<number, Set<string>>()
    lanes.set(key, lane)
    return lane
  }
  const leave = (job: string): void => {
    for (const waiting of laneOfJob.get(job)?.values() ?? []) waiting.delete(job)
  }

  history.forEach((one, entry) => {
    if (one.what === 'written' && one.isReady && !laneOfJob.has(one.job)) {
      const lane = laneFor(one)
      laneOfJob.set(one.job, lane)
      lane.set(one.priority, (lane.get(one.priority) ?? new Set()).add(one.job))
    } else if (one.what === 'claimed') {
      const first = firstBefore(laneOfJob.get(one.job), one.job)
      if (first !== undefined)
        violations.push({ rule: 'order', message: `${one.job} was leased before ${first}`, entry })
      leave(one.job)
    } else if (one.what === 'withdrawn' || one.what === 'replaced') {
      leave(one.job)
    }
  })
  return violations
}

/** The first waiting job that should come before it; undefined if it is not waiting. */
function firstBefore(lane: Lane | undefined, job: string): string | undefined {
  const own = [...(lane ?? [])].find(([, waiting]) => waiting.has(job))
  if (lane === undefined || own === undefined) return undefined
  const better = [...lane].filter(([priority]) => priority < own[0]).flatMap(([, waiting]) => [...waiting])
  const [first = job] = [...better, ...own[1]]
  return first === job ? undefined : first
}
