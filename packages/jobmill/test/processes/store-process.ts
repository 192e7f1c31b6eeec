/**
 * Another process on the same database. It receives the store and a task, and sends what was acknowledged to
 * it, so that it can be killed at any time.
 */
import { once } from 'node:events'
import type { FullStore } from '../../src/store/store.ts'
import { aClaim, aJob, anInstance, someJobs } from '../../../conformance/src/factories.ts'
import { type Place, storeAt } from './place.ts'

export type Task =
  | 'open'
  | 'enqueue-one'
  | 'enqueue-for-ever'
  | 'enqueue-and-work'
  | 'enqueue-on-request'
  | 'claim-and-hang'

/** How many jobs a process enqueues before it starts to work. */
export const EACH = 200

const tasks: Readonly<Record<Task, (store: FullStore) => Promise<void>>> = {
  open: async () => tell('open'),

  'enqueue-one': async (store) => {
    await store.enqueue([aJob()])
  },

  'enqueue-for-ever': async (store) => {
    for (;;) {
      const job = aJob()
      await store.enqueue([job])
      tell(job.id)
    }
  },

  'enqueue-and-work': async (store) => {
    await store.enqueue(someJobs(Array.from({ length: EACH }, () => ({}))))
    const instance = anInstance({ leaseMs: 600_000 })
    await store.instances.register(instance)
    for (;;) {
      const leases = await store.claim(aClaim(instance.id, { limit: 7 }))
      if (leases.length === 0) break
      const items = leases.map(
        ({ id, token }) =>
          ({ id, token, outcome: 'returned', transition: { to: 'done', result: null } }) as const,
      )
      for (const { id, accepted } of await store.finish(items)) tell(accepted ? id : 'refused')
    }
    await store.instances.deregister(instance.id)
  },

  /** Answers each message with the id of a job, or with the code of the error. Ends after `{ end: true }`. */
  'enqueue-on-request': async (store) => {
    tell('open')
    for (;;) {
      const [message] = (await once(process, 'message')) as [{ readonly end?: boolean }]
      if (message.end === true) return
      const job = aJob()
      tell(
        await store.enqueue([job]).then(
          () => job.id,
          (error: unknown) => (error as { readonly code: string }).code,
        ),
      )
    }
  },

  'claim-and-hang': async (store) => {
    const instance = anInstance({ leaseMs: 500 })
    await store.instances.register(instance)
    for (const { id } of await store.claim(aClaim(instance.id))) tell(id)
    tell('hanging')
    await store.notifier.wait({ queues: [], timeoutMs: 600_000 })
  },
}

function tell(message: string): void {
  process.send?.(message)
}

if (process.send !== undefined && process.argv[2] !== undefined) {
  const { place, task } = JSON.parse(process.argv[2]) as { place: Place; task: Task }
  const store = await storeAt(place)
  await store.open()
  await tasks[task](store)
  await store.close()
  process.disconnect()
}
