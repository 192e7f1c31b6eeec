/**
 * Checks that jobs with an order key ran one at a time and in order. The order of two jobs is certain only if
 * the first was acknowledged before the second was sent.
 */
import type { Run } from '../ledger.ts'
import type { Death } from './repeats.ts'
import type { Sent } from '../stream.ts'

/** The ids of jobs that ran out of order. */
export function jobsOutOfOrder(
  sent: readonly Sent[],
  runs: readonly Run[],
  deaths: readonly Death[],
): ReadonlySet<string> {
  const broken = new Set<string>()
  const orderedRuns = runs.filter(({ orderKey }) => orderKey !== null)
  const ofJobs = Map.groupBy(orderedRuns, ({ id }) => id)
  // A run that lost its lease may continue in a frozen process; its successor counts.
  const nextOf = ({ id, token }: Run): Run | undefined => ofJobs.get(id)?.find((other) => other.token > token)
  const endOf = (run: Run): number =>
    Math.min(
      run.endedAt ?? deaths.find(({ worker }) => worker === run.worker)?.at ?? Number.POSITIVE_INFINITY,
      nextOf(run)?.startedAt ?? Number.POSITIVE_INFINITY,
    )
  for (const ofQueue of Map.groupBy(orderedRuns, ({ orderKey }) => orderKey).values())
    for (const id of overlapping(ofQueue, endOf)) broken.add(id)
  const ordered = sent.filter(({ orderKey, answer }) => orderKey !== null && answer === 'acknowledged')
  for (const ofQueue of Map.groupBy(ordered, ({ orderKey }) => orderKey).values())
    for (const id of overtaking(ofQueue, ofJobs, endOf)) broken.add(id)
  return broken
}

/** Started while another job of the order queue ran. */
function overlapping(runs: readonly Run[], endOf: (run: Run) => number): string[] {
  const overlaps: string[] = []
  let last: { readonly id: string; readonly end: number } | null = null
  for (const run of runs.toSorted((a, b) => a.startedAt - b.startedAt)) {
    if (last !== null && last.id !== run.id && run.startedAt < last.end) overlaps.push(run.id)
    const end = endOf(run)
    if (last === null || end >= last.end) last = { id: run.id, end }
  }
  return overlaps
}

/** Started before an earlier acknowledged job had ended. */
function overtaking(
  sent: readonly Sent[],
  byJob: ReadonlyMap<string, readonly Run[]>,
  endOf: (run: Run) => number,
): string[] {
  const runsOf = ({ id }: Sent): readonly Run[] => byJob.get(id ?? '') ?? []
  const acknowledged = sent.toSorted((a, b) => (a.answeredAt ?? 0) - (b.answeredAt ?? 0))
  let at = 0
  let endedBy = Number.NEGATIVE_INFINITY
  return sent
    .toSorted((a, b) => a.sentAt - b.sentAt)
    .flatMap((one) => {
      for (; (acknowledged[at]?.answeredAt ?? Number.POSITIVE_INFINITY) < one.sentAt; at += 1)
        for (const run of runsOf(acknowledged[at] ?? one)) endedBy = Math.max(endedBy, endOf(run))
      const isEarly = runsOf(one).some(({ startedAt }) => startedAt < endedBy)
      return isEarly && one.id !== null ? [one.id] : []
    })
}
