/**
 * Refuses a transfer while an instance works on either database: concurrent changes would be lost, or jobs
 * would run twice.
 */
import { DEFAULTS } from '../../job/defaults.ts'
import type { InstanceRecord } from '../../store/types/instance.ts'
import type { Store } from '../../store/store.ts'
import { countText } from '../output/wording.ts'
import { type Places, refused } from './places.ts'

export async function checkQuiet({ source, target }: Places): Promise<void> {
  await checkIdle(source)
  await checkIdle(target)
}

export async function checkIdle(store: Store<never>): Promise<void> {
  const alive = (await store.instances.list()).filter(({ state }) => state === 'alive')
  if (alive.length === 0) return
  throw refused(
    `${alive.map(nameOf).join(', ')} ${alive.length === 1 ? 'is' : 'are'} running on ${store.name}`,
    `Stop all instances first. A killed instance counts until its lease expires (${DEFAULTS.instanceLeaseMs / 1_000} s)`,
  )
}

function nameOf({ label, id }: InstanceRecord): string {
  return label === null ? `instance ${id}` : `instance ${label} (${id})`
}

/** All instances that the source lists, to detect one that ran during the transfer. */
export async function knownInstances({ source }: Places): Promise<ReadonlySet<string>> {
  return new Set((await source.instances.list()).map(({ id }) => id))
}

export async function checkNoneStarted({ source }: Places, known: ReadonlySet<string>): Promise<void> {
  const came = (await source.instances.list()).filter(({ id }) => !known.has(id))
  if (came.length === 0) return
  const names = came.map(nameOf).join(', ')
  throw refused(
    `${names} ran on ${source.name} during the transfer`,
    'Stop all instances, then run the same command again. If jobs have changed, drop the target and transfer again',
  )
}

const AT_ONCE = 1_000

/**
 * Returns jobs that crashed processes left running to their queues, as the reaper does. Resolves with their
 * number.
 */
export async function returnAbandonedJobs(source: Store<never>): Promise<number> {
  if ((await runningOn(source)) === 0) return 0
  let jobs = 0
  for (;;) {
    const reaped = await source.instances.reap({
      crashesUntilDead: DEFAULTS.crashesUntilDead,
      limit: AT_ONCE,
    })
    jobs += reaped.jobs.length
    if (reaped.jobs.length + reaped.instances.length === 0) break
  }
  const left = await runningOn(source)
  if (left === 0) return jobs
  throw refused(
    `${countText(left, 'job')} ${left === 1 ? 'is' : 'are'} still running on ${source.name}`,
    'End the open transactions that complete jobs, then run the same command again',
  )
}

/**
 * Enqueues the follow-ups of cancelled jobs and cancels their children, as the next stage of a process would.
 * Only before the first job is copied, because due jobs become ready and would differ from their copies.
 */
export async function finishCancels({ source, target }: Places): Promise<void> {
  if ((await target.tools.exportIds({ after: null, limit: 1 })).length > 0) return
  while ((await source.stage(AT_ONCE)).more);
}

async function runningOn(store: Store<never>): Promise<number> {
  return (await store.counts()).reduce((sum, { running }) => sum + running, 0)
}
