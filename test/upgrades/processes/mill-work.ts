/** A process of a release that has the runtime: a mill. */
import type { JobContext, FullStore } from 'jobmill'
import { KINDS, QUEUE, type Work } from '../../../proof/cluster/kinds.ts'
import type { Release } from '../releases/release.ts'
import { RETRY_MS, type WorkerHandle, type WorkerOptions } from './working.ts'

export async function millWork(
  { entry }: Release,
  store: FullStore<never>,
  { runJob, write, onOutcome }: WorkerOptions,
): Promise<WorkerHandle> {
  const jobs = KINDS.map((kind) =>
    entry.defineJob({
      kind,
      queue: QUEUE,
      backoff: { fixed: RETRY_MS },
      async run({ job, payload, attempt, signal }: JobContext<Work>) {
        const { id, token } = job
        write({ what: 'start', id, token, attempt, n: payload.n, orderKey: payload.orderKey })
        const how = await runJob(kind, payload, attempt, signal)
        write({ what: 'end', id, token, how })
        if (how === 'stopped') throw signal.reason
        if (how === 'failed') throw new Error('it fails in its first attempt')
      },
    }),
  )
  // No process loses its lease, however long a busy machine pauses it: the test ends the lease of the victim.
  const mill = entry.jobmill({ store, jobs, lease: '2m', log: 'error' })
  const recordEnd =
    (how: 'returned' | 'failed') => (event: { readonly id: string; readonly attempt: number }) => {
      write({ what: 'reported', id: event.id, attempt: event.attempt, how })
      onOutcome()
    }
  mill.on('finished', recordEnd('returned'))
  mill.on('retried', recordEnd('failed'))
  mill.on('instance-lost', () => write({ what: 'lost' }))
  await mill.start()
  return {
    async enqueue(kind, work) {
      const orderKey = work.orderKey === null ? {} : { orderKey: work.orderKey }
      return (await mill.enqueue(kind, work, { queue: QUEUE, ...orderKey })).id
    },
    stop: async () => void (await mill.stop()),
  }
}
