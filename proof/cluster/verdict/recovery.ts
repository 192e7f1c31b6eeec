/** Measures waits: from enqueue to start, after a process crash, and after a database outage. */
import type { Run } from '../ledger.ts'
import type { Outage } from '../places.ts'
import type { Death } from './repeats.ts'
import type { Sent } from '../stream.ts'

/** From the death of a process to the next start of each of its jobs; null if it never started again. */
export function afterDeaths(runs: readonly Run[], deaths: readonly Death[]): (number | null)[] {
  return deaths.flatMap(({ worker, at }) =>
    runs
      .filter((run) => run.worker === worker && run.how === null)
      .map(({ id, token }) => {
        const next = least(runs.flatMap((run) => (run.id === id && run.token > token ? [run.startedAt] : [])))
        return next === null ? null : next - at
      }),
  )
}

/** From the end of the outage to the first outcome committed after it; null if there was none. */
export function afterOutage({ to }: Outage, runs: readonly Run[]): number | null {
  const next = least(
    runs.flatMap(({ reportedAt }) => (reportedAt !== null && reportedAt > to ? [reportedAt] : [])),
  )
  return next === null ? null : next - to
}

/** From sent to first started, shortest first; without jobs that had to wait for their order key. */
export function waits(sent: readonly Sent[], runs: readonly Run[]): number[] {
  const startedAt = new Map<string, number>()
  for (const run of runs)
    startedAt.set(run.id, Math.min(run.startedAt, startedAt.get(run.id) ?? run.startedAt))
  return sent
    .flatMap(({ id, orderKey, sentAt }) => {
      const at = startedAt.get(id ?? '')
      return at === undefined || orderKey !== null ? [] : [at - sentAt]
    })
    .toSorted((a, b) => a - b)
}

function least(times: readonly number[]): number | null {
  return times.length === 0 ? null : times.reduce((a, b) => Math.min(a, b))
}
