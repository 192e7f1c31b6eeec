/** Reads the content of a database through the store contract, without values that change over time. */
import type { FullStore } from 'jobmill'
import type { Roles } from './scene.ts'

/** The second half of a fixture: what the code that filled it read at the end, as JSON. */
export interface Snapshot {
  readonly roles: Roles
  /** By role. */
  readonly jobs: Readonly<Record<string, unknown>>
  readonly history: Readonly<Record<string, unknown>>
  readonly counts: unknown
  readonly queues: unknown
  readonly instances: unknown
  readonly limits: unknown
  readonly schedules: unknown
  readonly ticks: unknown
}

export async function snapshot(store: FullStore<never>, roles: Roles): Promise<Snapshot> {
  const ids = Object.entries(roles)
  const jobs = await store.get(ids.map(([, id]) => id))
  const history = await Promise.all(ids.map(([, id]) => store.history(id)))
  const byRole = (all: readonly unknown[]): Record<string, unknown> =>
    Object.fromEntries(ids.map(([role], at) => [role, all[at]]))
  return {
    roles,
    jobs: byRole(jobs),
    history: byRole(history),
    counts: (await store.counts()).map(({ oldestReadyMs: _, ...rest }) => rest),
    queues: (await store.queues.list()).map(({ coolingMs: _, ...rest }) => rest),
    // Whether an instance is alive or expired depends on the time of reading.
    instances: (await store.instances.list())
      .map(({ state, ...rest }) => ({ ...rest, state: state === 'alive' ? 'expired' : state }))
      .toSorted((a, b) => a.id.localeCompare(b.id)),
    ...(await cluster(store)),
  }
}

async function cluster(store: FullStore<never>): Promise<Pick<Snapshot, 'limits' | 'schedules' | 'ticks'>> {
  const schedules = await store.schedules.list()
  return {
    limits: (await store.limits.list()).map(({ name, settings, held }) => ({ name, settings, held })),
    schedules: schedules.map(({ readAt: _, ...rest }) => rest),
    ticks: await Promise.all(schedules.map(({ name }) => store.schedules.ticks(name, 10))),
  }
}
