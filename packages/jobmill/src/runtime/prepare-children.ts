/** Prepares the child jobs of a step, and refuses kinds that no process runs: the step would wait forever. */
import { invalidValue, quote } from '../job/errors.ts'
import { kindsOf } from '../job/kind/kind-name.ts'
import { nearest } from '../job/options/known-keys.ts'
import type { FullStore } from '../store/store.ts'
import { isClaiming } from '../store/types/instance.ts'
import type { PrepareJobs } from '../work/steps/child-steps.ts'

export function prepareChildren(
  prepare: PrepareJobs,
  definitions: ReadonlyMap<string, unknown>,
  store: Pick<FullStore, 'instances'>,
): PrepareJobs {
  return async (target, items, many) => {
    const jobs = await prepare(target, items, many)
    // A definition may be run by processes that are not started yet. A text is more likely a mistake.
    const [kind] = typeof target === 'string' && !definitions.has(target) ? jobs.map((job) => job.kind) : []
    if (kind === undefined) return jobs
    const served = (await store.instances.list()).filter(isClaiming).flatMap(({ kinds }) => kindsOf(kinds))
    if (served.includes(kind)) return jobs
    const close = nearest(kind, served)
    const fix =
      close === undefined
        ? 'Pass the definition of the job, or start a process that runs it'
        : `Did you mean ${quote(close)}?`
    throw invalidValue('kind', kind, 'no running process has a handler for it', fix, 'KIND_UNKNOWN')
  }
}
