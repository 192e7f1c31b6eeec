/** Helpers for cases about direct dispatch. */
import assert from 'node:assert/strict'
import type { HandOff, JobRequest, Lease } from 'jobmill/store'
import { aHandOff, someJobs } from '../../factories.ts'
import type { Bench } from '../bench.ts'
import { countsAreExact } from '../looks.ts'

export interface HandedOff {
  /** The ids of all jobs of the call, in order. */
  readonly ids: readonly string[]
  /** The indexes of the leased jobs in the call. */
  readonly places: readonly number[]
  /** In the order of the call. */
  readonly leases: readonly Lease[]
}

/** Enqueues new jobs with an offer of free workers, and checks that exactly the leased ones are running. */
export async function handOff(
  { store }: Pick<Bench, 'store'>,
  instance: string,
  requests: readonly Partial<JobRequest>[] = [{}],
  overrides: Partial<HandOff> = {},
): Promise<HandedOff> {
  const jobs = someJobs(requests)
  const ids = jobs.map(({ id }) => id)
  const replies = await store.enqueue(jobs, { handOff: aHandOff(instance, overrides) })
  const leases = replies.flatMap(({ lease }) => lease ?? [])
  assert.deepEqual(
    replies,
    ids.map((id) => {
      const lease = leases.find((one) => one.id === id)
      return lease === undefined ? { id, outcome: 'enqueued' } : { id, outcome: 'enqueued', lease }
    }),
  )
  const leased = new Set(leases.map(({ id }) => id))
  for (const job of await store.get(ids)) {
    assert.ok(job)
    assert.equal(job.state === 'running', leased.has(job.id), `${job.id} is ${job.state}`)
    assert.equal(job.instance, leased.has(job.id) ? instance : null)
  }
  await countsAreExact(store)
  return { ids, leases, places: ids.flatMap((id, place) => (leased.has(id) ? [place] : [])) }
}

/** The indexes of the leased jobs among these jobs, enqueued in one call. */
export async function placesOf(...args: Parameters<typeof handOff>): Promise<readonly number[]> {
  return (await handOff(...args)).places
}
