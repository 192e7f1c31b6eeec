/** Reads all jobs of the store. */
import type { JobState, FullStore } from 'jobmill'
import type { JobSummary } from 'jobmill/store'
import { through } from './process/store.ts'
import type { World } from './world.ts'

export async function allJobs(world: World, store: FullStore<never>): Promise<JobSummary[]> {
  const jobs: JobSummary[] = []
  for (let cursor: string | undefined; ;) {
    const page = await through(world, store.list({}, { limit: 500, ...(cursor !== undefined && { cursor }) }))
    jobs.push(...page.jobs)
    if (page.next === null) return jobs
    cursor = page.next
  }
}

/** As a history entry. */
export function looked(jobs: readonly JobSummary[]): {
  readonly jobs: ReadonlyMap<string, JobState>
  readonly crashes: ReadonlyMap<string, number>
} {
  return {
    jobs: new Map(jobs.map(({ id, state }) => [id, state])),
    crashes: new Map(jobs.map(({ id, crashes }) => [id, crashes])),
  }
}
