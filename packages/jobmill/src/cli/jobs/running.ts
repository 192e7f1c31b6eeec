/** Counts the running jobs of each process. */
import type { Mill } from '../../runtime/mill.ts'
import { pagesOf } from './pages.ts'

/** By instance id. Omits processes without running jobs. */
export async function runningJobs(
  mill: Pick<Mill, 'list'>,
  counted: (jobs: number) => void = () => {},
): Promise<ReadonlyMap<string, number>> {
  const running = new Map<string, number>()
  const pages = pagesOf(mill, {
    filter: { state: 'running' },
    most: Number.POSITIVE_INFINITY,
    looked: counted,
  })
  for await (const { jobs } of pages)
    for (const { instance } of jobs)
      if (instance !== null) running.set(instance, (running.get(instance) ?? 0) + 1)
  return running
}
