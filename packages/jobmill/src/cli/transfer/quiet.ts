/** Nobody may work on either database while one is moved: what changes behind our back would be lost, or run twice. */
import { DEFAULTS } from '../../job/defaults.ts'
import { JobmillError } from '../../job/errors.ts'
import type { InstanceRecord } from '../../store/instance.ts'
import type { Store } from '../../store/store.ts'
import { counted } from '../wording.ts'
import type { Places } from './places.ts'

export async function checkQuiet({ source, target }: Places): Promise<void> {
  await checkNobodyAt(source)
  await checkNobodyAt(target)
}

export async function checkNobodyAt(store: Store<never>): Promise<void> {
  const alive = (await store.instances()).filter(({ state }) => state === 'alive')
  if (alive.length === 0) return
  throw new JobmillError('TRANSFER_REFUSED', `${alive.map(nameOf).join(', ')} is at work on ${store.name}`, {
    fix: `Stop it. One whose process is gone counts as alive for ${DEFAULTS.instanceLeaseMs / 1_000} s more`,
  })
}

function nameOf({ label, id }: InstanceRecord): string {
  return label === null ? `instance ${id}` : `instance ${label} (${id})`
}

/** The instances that were ever seen on the source: to find one that came and went. */
export async function knownInstances({ source }: Places): Promise<ReadonlySet<string>> {
  return new Set((await source.instances()).map(({ id }) => id))
}

export async function checkNobodyCame({ source }: Places, known: ReadonlySet<string>): Promise<void> {
  const came = (await source.instances()).filter(({ id }) => !known.has(id))
  if (came.length === 0) return
  const names = came.map(nameOf).join(', ')
  throw new JobmillError('TRANSFER_REFUSED', `${names} worked on ${source.name} during the move`, {
    fix: 'Stop it and run the same command again. It says whether jobs have changed that were moved already',
  })
}

const AT_ONCE = 1_000

/** What still counts as running was left by processes that are gone: it goes back to where any other process would have put it. How many jobs that were. */
export async function takeBack(source: Store<never>): Promise<number> {
  if ((await runningOn(source)) === 0) return 0
  let jobs = 0
  for (;;) {
    const reaped = await source.reap({ crashesUntilDead: DEFAULTS.crashesUntilDead, limit: AT_ONCE })
    jobs += reaped.jobs.length
    if (reaped.jobs.length + reaped.instances.length === 0) break
  }
  const left = await runningOn(source)
  if (left === 0) return jobs
  throw new JobmillError(
    'TRANSFER_REFUSED',
    `${counted(left, 'job')} still ${left === 1 ? 'runs' : 'run'} on ${source.name}`,
    {
      fix: 'Look for a transaction that is open and has finished one of them',
    },
  )
}

async function runningOn(store: Store<never>): Promise<number> {
  return (await store.counts()).reduce((sum, { running }) => sum + running, 0)
}
