/** `mill.recentRuns()`: which attempts ran where, for a chart with a lane for each process. */
import type { Outcome } from '../../job/attempt/outcome.ts'
import { BOUNDS } from '../../job/defaults.ts'
import { type JobFilter, MAY_LAG } from '../../store/types/job-list.ts'
import type { JobSummary } from '../../store/types/job-record.ts'
import type { FullStore } from '../../store/store.ts'
import type { MillTools } from '../tools.ts'

interface RecentRun {
  readonly job: string
  readonly kind: string
  readonly queue: string
  readonly instance: string
  readonly attempt: number
  readonly startedAt: number
  /** Null while it runs, like the outcome. */
  readonly endedAt: number | null
  readonly outcome: Outcome | null
}

export interface RecentRunsView {
  readonly from: number
  readonly to: number
  /**
   * Runs that ended before this instant may be missing, because there were too many. Null if none is missing.
   */
  readonly completeFrom: number | null
  /** Sorted by start. */
  readonly runs: readonly RecentRun[]
}

export interface RecentRuns {
  /** The attempts that ran in the last 15 minutes, at most the newest 2,000, and the running jobs. */
  recentRuns(): Promise<RecentRunsView>
}

const WINDOW_MS = 15 * 60_000
const MOST_RUNS = 2_000
const PAGE = BOUNDS.pageLimit

export function recentRuns({ opened, platform }: Pick<MillTools, 'opened' | 'platform'>): RecentRuns {
  return {
    async recentRuns() {
      const store = await opened()
      const to = platform.now()
      const from = to - WINDOW_MS
      const lists = [
        await newest(store, { state: 'running' }, PAGE),
        await newest(store, { state: 'dead', endedFrom: from }, PAGE),
        await newest(store, { state: 'cancelled', endedFrom: from }, PAGE),
        await newest(store, { state: 'scheduled', retrying: true }, PAGE),
        await newest(store, { state: 'done', endedFrom: from }, MOST_RUNS),
      ]
      const jobs = new Map(lists.flatMap((list) => list.jobs).map((job) => [job.id, job]))
      const ended = await endedRuns(store, jobs, from)
      const shown = ended.slice(-MOST_RUNS)
      const starts = [
        // Running and retrying jobs are not listed by their end, so each of their runs may be missing.
        ...lists.flatMap(({ jobs: some, isCut }) => (isCut ? [some.at(-1)?.endedAt ?? to] : [])),
        ...(shown.length < ended.length ? [shown[0]?.endedAt] : []),
      ].filter((at) => at !== null && at !== undefined)
      const runs = [...shown, ...[...jobs.values()].flatMap(runningRun)]
      return {
        from,
        to,
        completeFrom: starts.length === 0 ? null : Math.max(...starts),
        runs: runs.toSorted((a, b) => a.startedAt - b.startedAt),
      }
    },
  }
}

/** At most this many jobs, in the order of the store: of ended jobs the newest. */
async function newest(
  store: Pick<FullStore, 'list'>,
  filter: JobFilter,
  most: number,
): Promise<{ readonly jobs: readonly JobSummary[]; readonly isCut: boolean }> {
  const jobs: JobSummary[] = []
  let cursor: string | undefined
  do {
    const page = await store.list(filter, { limit: PAGE, cursor }, MAY_LAG)
    jobs.push(...page.jobs)
    cursor = page.next ?? undefined
    // Stop after a page whose scan was cut off: there are few matches among many jobs.
    if (!page.complete) break
  } while (cursor !== undefined && jobs.length < most)
  return { jobs, isCut: cursor !== undefined }
}

/** Sorted by end. */
async function endedRuns(
  store: Pick<FullStore, 'inspect'>,
  jobs: ReadonlyMap<string, JobSummary>,
  from: number,
): Promise<RecentRun[]> {
  const ids = [...jobs.keys()]
  const found: RecentRun[] = []
  for (let at = 0; at < ids.length; at += PAGE)
    for (const { id, ...run } of await store.inspect.runs(ids.slice(at, at + PAGE), from, MAY_LAG)) {
      const { kind = '', queue = '' } = jobs.get(id) ?? {}
      found.push({ job: id, kind, queue, ...run })
    }
  return found.toSorted((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0))
}

function runningRun({ id, kind, queue, instance, attempt, startedAt }: JobSummary): RecentRun[] {
  if (instance === null || startedAt === null) return []
  return [{ job: id, kind, queue, instance, attempt, startedAt, endedAt: null, outcome: null }]
}
