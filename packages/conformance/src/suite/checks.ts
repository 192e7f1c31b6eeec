/** What a case reads from its database, and checks about it. */
import assert from 'node:assert/strict'
import {
  type AttemptRecord,
  type FullStore,
  type InstanceRecord,
  JOB_STATES,
  type JobFilter,
  type JobRecord,
  type JobState,
  type JobSummary,
} from 'jobmill/store'
import { QUEUE } from '../factories.ts'
import { type Expected, hasFields } from './looks.ts'

/** More than any case enqueues. */
const MOST_LISTED = 10_000

export abstract class Checks {
  abstract readonly store: FullStore

  async job(id: string): Promise<JobRecord> {
    const [record] = await this.store.get([id])
    assert.ok(record, `job ${id} does not exist`)
    return record
  }

  async instanceOf(id: string): Promise<InstanceRecord | undefined> {
    return (await this.store.instances.list()).find((one) => one.id === id)
  }

  /** Every page of a listing, joined. */
  async listAll(filter: JobFilter = {}, limit = 500): Promise<JobSummary[]> {
    const jobs: JobSummary[] = []
    let cursor: string | undefined
    do {
      const page = await this.store.list(filter, { limit, cursor })
      assert.ok(page.jobs.length <= limit)
      assert.ok(page.scanned >= page.jobs.length)
      jobs.push(...page.jobs)
      assert.ok(jobs.length <= MOST_LISTED, 'the pages repeat endlessly')
      cursor = page.next ?? undefined
    } while (cursor !== undefined)
    return jobs
  }

  async idsOf(filter?: JobFilter, limit?: number): Promise<string[]> {
    return (await this.listAll(filter, limit)).map(({ id }) => id)
  }

  /** Checks a listing, with pages of these sizes. */
  async lists(
    filter: JobFilter,
    expected: readonly string[],
    limits: readonly number[] = [500],
  ): Promise<void> {
    for (const limit of limits)
      assert.deepEqual(await this.idsOf(filter, limit), expected, JSON.stringify({ ...filter, limit }))
  }

  /** Checks the named fields of a job. */
  async jobIs(id: string, expected: Expected<JobRecord>): Promise<void> {
    hasFields(await this.job(id), expected)
  }

  /** Checks the state of each job. Null: it does not exist. */
  async statesAre(ids: readonly string[], expected: readonly (JobState | null)[]): Promise<void> {
    const jobs = await this.store.get(ids)
    assert.deepEqual(
      jobs.map((job) => job?.state ?? null),
      expected,
    )
  }

  /** Checks the outcome and error of each attempt. */
  async historyIs(
    id: string,
    expected: readonly (readonly [AttemptRecord['outcome'], string | null])[],
  ): Promise<void> {
    const history = await this.store.history(id)
    assert.deepEqual(
      history.map(({ outcome, error }) => [outcome, error]),
      expected,
    )
  }

  /** Checks the counts of one queue. Omitted states have no jobs. */
  async countsAre(expected: Partial<Record<JobState, number>>, queue: string = QUEUE): Promise<void> {
    const record = (await this.store.counts()).find((one) => one.queue === queue)
    assert.ok(record, `no counts of ${queue}`)
    const there = JOB_STATES.filter((state) => record[state] !== 0).map((state) => [state, record[state]])
    assert.deepEqual(Object.fromEntries(there), expected)
  }

  /** Checks that the counts match a listing of everything. */
  async countsAreExact(): Promise<void> {
    const jobs = await this.listAll()
    for (const counted of await this.store.counts()) {
      for (const state of JOB_STATES) {
        const there = jobs.filter((job) => job.queue === counted.queue && job.state === state).length
        assert.equal(counted[state], there, `${state} in ${counted.queue}`)
      }
    }
  }

  /** Runs an action that must not change any job, and checks that it did not. */
  async changesNothing<T>(act: () => Promise<T>): Promise<T> {
    const before = await this.#look()
    const result = await act()
    assert.deepEqual(await this.#look(), before)
    return result
  }

  /** Everything visible about the jobs. Equal snapshots mean that nothing was written. */
  async #look(): Promise<unknown> {
    const ids = await this.idsOf()
    return {
      jobs: await this.store.get(ids),
      histories: await Promise.all(ids.map((id) => this.store.history(id))),
      counts: await this.store.counts(),
    }
  }
}
