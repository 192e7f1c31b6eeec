/** One hook per API read. Components that read the same data share one response. */
import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query'
import { ask, encodeName, type Problem, type Query } from './client.ts'
import { atMostEvery } from './live/pace.ts'
import type { Range } from './range.ts'
import type {
  Answer,
  BulkAct,
  BulkPreview,
  Errors,
  Inspected,
  InspectedSchedule,
  JobPage,
  Overview,
  Series,
  System,
  Workers,
} from './types.ts'
import type { FilePage, Mailbox, MailboxPage } from './upload-types.ts'

export type Read<T> = UseQueryResult<T, Problem>

interface How {
  /** False while there is nothing to fetch. */
  readonly enabled?: boolean
  /** Keeps the previous data on screen while the next response loads. */
  readonly keep?: boolean
  /** Skips the comparison with the previous data, which costs more than it saves for a large response. */
  readonly isLarge?: boolean
  /** For expensive responses that change slowly: the shortest time between two automatic fetches. */
  readonly atMostEveryMs?: number
  /** A component that is mounted does not fetch again what is younger than this. */
  readonly freshMs?: number
}

function useRead<T>(path: string, query: Query = {}, how: How = {}): Read<T> {
  return useQuery<T, Problem>({
    queryKey: [path, query],
    queryFn: ({ signal }) => ask<T>(path, { query, signal }),
    enabled: how.enabled ?? true,
    ...(how.atMostEveryMs !== undefined && { meta: atMostEvery(how.atMostEveryMs) }),
    ...(how.freshMs !== undefined && { staleTime: how.freshMs }),
    ...(how.keep === true && { placeholderData: keepPreviousData }),
    ...(how.isLarge === true && { structuralSharing: false }),
  })
}

/** For what changes slowly, and for what the server caches for five seconds. */
const SLOW_MS = 5_000
const SLOWEST_MS = 15_000

/** Every button reads the user's role from it, so a new row with buttons must not fetch it again. */
export const useOverview = (): Read<Overview> => useRead('overview', {}, { freshMs: 2_000 })
/** Of a larger result, only the size is shown. */
const LARGEST_RESULT = 10_000
export const useSteps = (id: string): Read<Answer<'jobs.steps'>> =>
  useRead(`jobs/${encodeName(id)}/steps`, { largest: LARGEST_RESULT })
export const useDiagnostics = (): Read<Answer<'diagnostics.list'>> =>
  useRead('diagnostics', {}, { atMostEveryMs: SLOWEST_MS })
export const useQueues = (): Read<Answer<'queues.list'>> => useRead('queues')
/** Counts the jobs of each group, which takes a while when there are many. */
export const useGroups = (queue: string, sort: string, limit: number): Read<Answer<'groups.list'>> =>
  useRead(`queues/${encodeName(queue)}/groups`, { sort, limit }, { keep: true, atMostEveryMs: SLOW_MS })
export const useCapacity = (): Read<Answer<'queues.capacity'>> =>
  useRead('capacity', {}, { atMostEveryMs: SLOW_MS })
export const useWorkers = (): Read<Workers> =>
  useRead('workers', {}, { atMostEveryMs: SLOW_MS, freshMs: SLOW_MS })
export const useAlerts = (): Read<Answer<'alerts.list'>> => useRead('alerts')
export const useRecentRuns = (): Read<Answer<'workers.runs'>> =>
  useRead('workers/runs', {}, { atMostEveryMs: 15_000, isLarge: true })
export const useLimits = (): Read<Answer<'limits.list'>> => useRead('limits')
export const useAllOverrides = (): Read<Answer<'overrides.list'>> => useRead('overrides')
export const useSchedules = (): Read<Answer<'schedules.list'>> =>
  useRead('schedules', {}, { atMostEveryMs: SLOW_MS })
export const useKinds = (): Read<Answer<'kinds.list'>> => useRead('kinds')
export const useSystem = (how?: How): Read<System> =>
  useRead('system', {}, { atMostEveryMs: SLOW_MS, ...how })

/** Deploys are rare, so the versions are fetched at most twice a minute. */
export const useVersions = (): Read<Answer<'versions.list'>> =>
  useQuery<Answer<'versions.list'>, Problem>({
    queryKey: ['versions'],
    queryFn: ({ signal }) => ask('versions', { signal }),
    enabled: ({ state }) => Date.now() - state.dataUpdatedAt >= VERSIONS_EVERY_MS,
  })

const VERSIONS_EVERY_MS = 30_000

/** Fetched once after sign-in: the set of applications is fixed when the server starts. */
export const useApps = (isKnown: boolean): Read<Answer<'apps.list'>> =>
  useQuery<Answer<'apps.list'>, Problem>({
    queryKey: ['apps'],
    queryFn: ({ signal }) => ask('apps', { signal }),
    enabled: ({ state }) => isKnown && state.data === undefined,
  })

/**
 * The ends of a range move with time, so they are computed for each fetch and are not part of the cache key.
 */
export function useSeries(range: Range, query: Query = {}, how: How = {}): Read<Series> {
  return useQuery<Series, Problem>({
    queryKey: ['series', range.key, query],
    queryFn({ signal }) {
      const { from, to } = range.ends()
      return ask('series', { query: { ...query, from, ...(range.preset === null && { to }) }, signal })
    },
    enabled: how.enabled ?? true,
    ...(how.atMostEveryMs !== undefined && { meta: atMostEvery(how.atMostEveryMs) }),
    placeholderData: keepPreviousData,
  })
}

/** Without a range: of all time. The ends of a range move, so they are not part of the cache key. */
export const useErrors = (
  query: Query,
  { range = null, atMostEveryMs = SLOW_MS }: Pick<How, 'atMostEveryMs'> & { range?: Range | null } = {},
): Read<Errors> =>
  useQuery<Errors, Problem>({
    queryKey: ['errors', query, range?.key ?? null],
    queryFn: ({ signal }) => ask('errors', { query: { ...query, ...failedIn(range) }, signal }),
    meta: atMostEvery(atMostEveryMs),
    placeholderData: keepPreviousData,
  })

/** The filter of the failures in a range. Null: of all time. */
export function failedIn(range: Range | null): { failedFrom?: number; failedBefore?: number } {
  if (range === null) return {}
  const { from, to } = range.ends()
  return { failedFrom: Math.floor(from), ...(range.preset === null && { failedBefore: Math.ceil(to) }) }
}
export const useViews = (): Read<Answer<'views.list'>> => useRead('views', {}, { atMostEveryMs: SLOWEST_MS })
export const useJobs = (query: Query, how?: How): Read<JobPage> =>
  useRead('jobs', query, { keep: true, ...how })

/** Values larger than `largest` bytes stay on the server until the user loads them. */
export const useJob = (id: string, largest: number | undefined, how?: How): Read<Inspected> =>
  useRead(`jobs/${encodeName(id)}`, { largest }, { isLarge: true, keep: true, ...how })

export const useSchedule = (name: string, how?: How): Read<InspectedSchedule> =>
  useRead(`schedules/${encodeName(name)}`, {}, how)

export const useNextRuns = (when: string, zone: string): Read<Answer<'schedules.next'>> =>
  useRead('next-runs', { when, zone, count: 10 }, { enabled: when.trim() !== '', keep: true })

export const useBulkPreview = (act: BulkAct, query: Query, how?: How): Read<BulkPreview> =>
  useRead('bulk', { act, ...query }, how)

export const useTimeline = (query: Query): Read<Answer<'timeline.read'>> =>
  useRead('timeline', query, { keep: true, atMostEveryMs: SLOW_MS })

export const useAudit = (query: Query, how?: How): Read<Answer<'audit.read'>> =>
  useRead('audit', query, { keep: true, ...how })

export const useMailboxes = (query: Query): Read<MailboxPage> =>
  useRead('apps/uploads/mailboxes', query, { keep: true })
export const useMailbox = (
  id: string,
): Read<Pick<MailboxPage, 'expiredUnfetched'> & { readonly mailbox: Mailbox }> =>
  useRead(`apps/uploads/mailboxes/${encodeName(id)}`)
export const useMailboxFiles = (id: string, query: Query): Read<FilePage> =>
  useRead(`apps/uploads/mailboxes/${encodeName(id)}/files`, query)
