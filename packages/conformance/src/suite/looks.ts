/** Helpers that read a whole database, and assertions that many cases share. */
import assert from 'node:assert/strict'
import {
  type AttemptRecord,
  type Enqueued,
  type ErrorCode,
  type FullStore,
  type InstanceRecord,
  isJobmillError,
  JOB_STATES,
  type JobFilter,
  type JobRecord,
  type JobState,
  type JobSummary,
  type QueueCounts,
  type QueueRecord,
  type QueueSettings,
  type Verdict,
} from 'jobmill/store'
import { QUEUE } from '../factories.ts'

/** More than any case enqueues. */
const MOST_LISTED = 10_000

/** Every page of a listing, joined. */
export async function listAll(store: FullStore, filter: JobFilter = {}, limit = 500): Promise<JobSummary[]> {
  const jobs: JobSummary[] = []
  let cursor: string | undefined
  do {
    const page = await store.list(filter, { limit, cursor })
    assert.ok(page.jobs.length <= limit)
    assert.ok(page.scanned >= page.jobs.length)
    jobs.push(...page.jobs)
    assert.ok(jobs.length <= MOST_LISTED, 'the pages repeat endlessly')
    cursor = page.next ?? undefined
  } while (cursor !== undefined)
  return jobs
}

export async function idsOf(store: FullStore, filter: JobFilter = {}, limit = 500): Promise<string[]> {
  return (await listAll(store, filter, limit)).map(({ id }) => id)
}

export interface Look {
  readonly jobs: readonly (JobRecord | null)[]
  readonly histories: readonly AttemptRecord[][]
  readonly counts: readonly QueueCounts[]
}

/** Everything visible about the jobs. Equal snapshots mean that nothing was written. */
export async function look(store: FullStore): Promise<Look> {
  const ids = await idsOf(store)
  return {
    jobs: await store.get(ids),
    histories: await Promise.all(ids.map((id) => store.history(id))),
    counts: await store.counts(),
  }
}

/** Runs an action that must not change any job, and checks that it did not. */
export async function changesNothing<T>(store: FullStore, act: () => Promise<T>): Promise<T> {
  const before = await look(store)
  const result = await act()
  assert.deepEqual(await look(store), before)
  return result
}

/** The counts of one queue, without zeros. */
export async function countsOf(
  store: FullStore,
  queue: string = QUEUE,
): Promise<Partial<Record<JobState, number>>> {
  const record = (await store.counts()).find((one) => one.queue === queue)
  assert.ok(record, `no counts of ${queue}`)
  return Object.fromEntries(
    JOB_STATES.filter((state) => record[state] !== 0).map((state) => [state, record[state]]),
  )
}

/** Checks that the counts match a listing of everything. */
export async function countsAreExact(store: FullStore): Promise<void> {
  const jobs = await listAll(store)
  for (const counted of await store.counts()) {
    for (const state of JOB_STATES) {
      const there = jobs.filter((job) => job.queue === counted.queue && job.state === state).length
      assert.equal(counted[state], there, `${state} in ${counted.queue}`)
    }
  }
}

/** One field of each item. With several fields: a row of them for each item. */
export function pluck<T, K extends keyof T>(items: readonly T[], field: K): T[K][]
export function pluck<T, const K extends readonly (keyof T)[]>(
  items: readonly T[],
  ...fields: K
): { -readonly [I in keyof K]: T[K[I]] }[]
export function pluck<T>(items: readonly T[], ...fields: (keyof T)[]): unknown[] {
  const [field] = fields
  return items.map((item) =>
    fields.length === 1 && field !== undefined ? item[field] : fields.map((one) => item[one]),
  )
}

/** The replies to an enqueue of new jobs with these ids. */
export function enqueued(ids: readonly string[]): Enqueued[] {
  return ids.map((id) => ({ id, outcome: 'enqueued' }))
}

export function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0)
}

export function repeat<T>(value: T, count: number): T[] {
  return Array.from({ length: count }, () => value)
}

/** The state of each job, or null if it does not exist. */
export async function statesOf(store: FullStore, ids: readonly string[]): Promise<(JobState | null)[]> {
  return (await store.get(ids)).map((job) => job?.state ?? null)
}

/** Those of the jobs that exist. */
export async function remaining(store: FullStore, ids: readonly string[]): Promise<string[]> {
  return (await store.get(ids)).flatMap((job) => (job === null ? [] : [job.id]))
}

/** Some fields of a record. */
export type Expected<T> = { readonly [Name in keyof T]?: T[Name] | undefined }

/** Checks the named fields of a record, and ignores the others. */
export function hasFields<T extends object>(record: T | null | undefined, expected: Expected<T>): void {
  assert.ok(record)
  const names = Object.keys(expected) as (keyof T)[]
  assert.deepEqual(Object.fromEntries(names.map((name) => [name, record[name]])), expected)
}

export async function historyOf(
  store: FullStore,
  id: string,
): Promise<[AttemptRecord['outcome'], string | null][]> {
  return (await store.history(id)).map(({ outcome, error }) => [outcome, error])
}

/** Overrides options of a queue. */
export async function setQueue(
  store: FullStore,
  queue: string,
  settings: Partial<QueueSettings>,
  by?: string,
): Promise<QueueRecord> {
  return store.queues.change(queue, { settings, coolMs: null }, by)
}

export async function instanceOf(store: FullStore, id: string): Promise<InstanceRecord | undefined> {
  return (await store.instances.list()).find((one) => one.id === id)
}

export function isVerdict(
  actual: Verdict | undefined,
  verdict: Verdict['verdict'],
  state: JobState | null,
  holder?: string,
): void {
  assert.deepEqual([actual?.verdict, actual?.state, actual?.holder], [verdict, state, holder])
}

export async function rejectsWith(code: ErrorCode, act: () => Promise<unknown>): Promise<void> {
  await assert.rejects(
    act,
    (error: unknown) => isJobmillError(error) && error.code === code,
    `expected ${code}`,
  )
}
