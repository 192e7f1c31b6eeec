// Everything on the read side of a database that a transfer must keep, including tokens.
import type { AttemptRecord } from '../../src/store/types/job-record.ts'
import { ENTRY } from './furnish-jobs.ts'
import type { FullStore } from '../../src/store/store.ts'

export async function lookAt(store: FullStore<never>): Promise<object> {
  const ids = await idsIn(store)
  const schedules = await store.schedules.list()
  return {
    jobs: await store.get(ids),
    histories: await Promise.all(ids.map(async (id) => (await store.history(id)).map(plainAttempt))),
    counts: await store.counts(),
    queues: await store.queues.list(),
    limits: await store.limits.list(),
    schedules,
    alerts: await store.alerts.list(),
    views: await store.views.list(),
    ticks: await Promise.all(schedules.map(({ name }) => store.schedules.ticks(name, 100))),
    lists: await Promise.all(
      (['ready', 'scheduled', 'done', 'dead', 'cancelled'] as const).map((state) =>
        store.list({ state }, { limit: 500 }),
      ),
    ),
    tagged: await store.list({ tags: ['end'] }, { limit: 500 }),
    indexed: await store.list({ tags: [ENTRY], byTag: true, state: 'ready' }, { limit: 500 }),
  }
}

async function idsIn(store: FullStore<never>): Promise<string[]> {
  const { jobs } = await store.list({}, { limit: 500 })
  return jobs.map(({ id }) => id).toSorted()
}

/** One of the stores has no token for a cancel without a lease. */
function plainAttempt({ token, ...attempt }: AttemptRecord): object {
  return { ...attempt, token: attempt.instance === null ? 0 : token }
}
