/** How much a report of errors reads, with a store that only counts. */
import { expect, test } from 'vitest'
import { coversBefore, scanFailures } from '../../src/runtime/operate/errors/scan-failures.ts'
import type { FullStore } from '../../src/store/store.ts'
import type { JobFilter, JobPage, PageRequest } from '../../src/store/types/job-list.ts'
import type { JobFailure, JobSummary } from '../../src/store/types/job-record.ts'

type Reader = Pick<FullStore, 'list' | 'inspect'>
type Page = Partial<Omit<JobPage, 'jobs'>> & { readonly jobs: number }

/** The n-th dead job ended n milliseconds before 10,000. */
const jobAt = (n: number, { state }: JobFilter) =>
  ({
    id: `job-${n}`,
    kind: 'a',
    state,
    attempt: 1,
    endedAt: state === 'dead' ? 10_000 - n : null,
  }) as JobSummary

function storeWith(pageOf: (filter: JobFilter, page: PageRequest) => Page) {
  const asked: (Pick<JobFilter, 'state' | 'retrying'> & PageRequest)[] = []
  const store = {
    list({ state, retrying }: JobFilter, page: PageRequest): Promise<JobPage> {
      const from = asked.filter((one) => one.state === state).reduce((sum, { limit }) => sum + limit, 0)
      asked.push({ ...(state && { state }), ...(retrying === true && { retrying }), ...page })
      const {
        jobs: many,
        next = 'more',
        scanned = many,
        complete = true,
      } = pageOf({ state } as JobFilter, page)
      const jobs = Array.from({ length: many }, (_, n) => jobAt(from + n, { state } as JobFilter))
      return Promise.resolve({ jobs, next, scanned, complete })
    },
    inspect: {
      failures: (ids: readonly string[]) => Promise.resolve(ids.map(() => ({ at: 0 }) as JobFailure)),
    },
  } as unknown as Reader
  return { store, asked }
}

const scanned = (asked: readonly ({ readonly state?: string } & PageRequest)[], state: string) =>
  asked.filter((one) => one.state === state).map(({ limit, mostScanned }) => [limit, mostScanned])

test('reads the newest 2,000 dead jobs, and 2,000 and 1,000 of those that wait for a retry', async () => {
  const { store, asked } = storeWith((_, { limit }) => ({ jobs: limit }))
  const taken: string[] = []
  const scan = await scanFailures(store, {}, ({ id }) => taken.push(id))
  expect({ failed: scan.failed, complete: scan.complete }).toEqual({ failed: 5_000, complete: false })
  expect(taken).toHaveLength(5_000)
  expect(scanned(asked, 'dead').map(([limit]) => limit)).toEqual([500, 500, 500, 500])
  expect(scanned(asked, 'ready').map(([limit]) => limit)).toEqual([500, 500])
  expect(asked.filter(({ state }) => state !== 'dead').every(({ retrying }) => retrying)).toBe(true)
})

test('with a filter, looks for jobs that wait for a retry only in the first 5,000 rows', async () => {
  const { store, asked } = storeWith(({ state }) =>
    state === 'dead' ? { jobs: 0, next: null } : { jobs: 0, scanned: 2_000 },
  )
  const scan = await scanFailures(store, { kind: 'a' }, () => expect.unreachable())
  expect(scan).toEqual({ failed: 0, complete: false, endedAt: [], hasAllDead: true })
  expect(scanned(asked, 'scheduled')).toEqual([
    [500, 5_000],
    [500, 3_000],
    [500, 1_000],
  ])
  // All dead jobs were read, so none is left to read.
  expect(coversBefore(scan, 0)).toBe(true)
})

test('covers the time before a deploy if it has 500 dead jobs from before', async () => {
  const { store } = storeWith(({ state }, { limit }) =>
    state === 'dead' ? { jobs: limit } : { jobs: 0, next: null },
  )
  const scan = await scanFailures(store, {}, () => {})
  expect(scan.endedAt).toHaveLength(2_000)
  expect(coversBefore(scan, 10_000 - 1_499)).toBe(true)
  expect(coversBefore(scan, 10_000 - 1_500)).toBe(false)
})
