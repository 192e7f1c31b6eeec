/** Helpers for cases about direct dispatch. */
import assert from 'node:assert/strict'
import type { DirectDispatchOffer, JobRequest, Lease } from 'jobmill/store'
import { aDirectDispatch, someJobs } from '../../factories.ts'
import type { Bench } from '../bench.ts'
import { pluck } from '../looks.ts'

export interface Dispatched {
  readonly instance: string
  /** The ids of all jobs of the call, in order. */
  readonly ids: readonly string[]
  /** The indexes of the leased jobs in the call. */
  readonly places: readonly number[]
  /** In the order of the call. */
  readonly leases: readonly Lease[]
}

/**
 * Enqueues new jobs with an offer of free workers (default: of a new instance), and checks that exactly the
 * leased ones are running.
 */
export async function directDispatch(
  t: Bench,
  requests: readonly Partial<JobRequest>[] = [{}],
  overrides: Partial<DirectDispatchOffer> = {},
): Promise<Dispatched> {
  const { instance = await t.worker() } = overrides
  const jobs = someJobs(requests)
  const ids = pluck(jobs, 'id')
  const replies = await t.store.enqueue(jobs, { directDispatch: aDirectDispatch(instance, overrides) })
  const leases = replies.flatMap(({ lease }) => lease ?? [])
  assert.deepEqual(
    replies,
    ids.map((id) => {
      const lease = leases.find((one) => one.id === id)
      return lease === undefined ? { id, outcome: 'enqueued' } : { id, outcome: 'enqueued', lease }
    }),
  )
  const leased = new Set(pluck(leases, 'id'))
  for (const job of await t.store.get(ids)) {
    assert.ok(job)
    assert.equal(job.state === 'running', leased.has(job.id), `${job.id} is ${job.state}`)
    assert.equal(job.instance, leased.has(job.id) ? instance : null)
  }
  await t.countsAreExact()
  return { instance, ids, leases, places: ids.flatMap((id, place) => (leased.has(id) ? [place] : [])) }
}

/** The indexes of the leased jobs among these jobs, enqueued in one call. */
export async function placesOf(...args: Parameters<typeof directDispatch>): Promise<readonly number[]> {
  return (await directDispatch(...args)).places
}
