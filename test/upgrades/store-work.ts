/** A process of the first release, which had stores and no runtime: it works through the contract of that time, as an application would have had to. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Finish, Lease, NewInstance, PulseRequest, Store } from 'jobmill'
import { type Kind, KINDS, QUEUE, type Work } from '../../proof/cluster/kinds.ts'
import type { Release } from './release.ts'
import { RETRY_MS, WORKERS, type Working, type WorkingOptions } from './working.ts'

const PULSE_MS = 100
const LEASE_MS = 10_000
const RENEW_EVERY_MS = 3_000

export async function storeWork(
  { entry }: Release,
  store: Store<never>,
  { worked, write, told }: WorkingOptions,
): Promise<Working> {
  await store.open()
  const id = entry.systemPlatform.id()
  const serves = { queues: [QUEUE], kinds: [...KINDS] }
  await store.register({
    id,
    label: null,
    version: null,
    ...serves,
    capacity: WORKERS,
    leaseMs: LEASE_MS,
  } as unknown as NewInstance)
  const { enqueue } = entry.enqueuer(store)
  const running = new Set<Promise<void>>()
  const stopping = new AbortController()

  async function run(lease: Lease): Promise<void> {
    const { id, token, attempt } = lease
    const work = JSON.parse(lease.payload) as Work
    write({ what: 'start', id, token, attempt, n: work.n, line: work.line })
    const how = await worked(lease.kind as Kind, work, attempt)
    write({ what: 'end', id, token, how })
    const finish: Finish =
      how === 'threw'
        ? { id, token, outcome: how, transition: { to: 'scheduled', delayMs: RETRY_MS, refund: false } }
        : { id, token, outcome: 'returned', transition: { to: 'done', result: null } }
    const [answer] = await untilKnown(() => store.finish([finish]))
    if (answer?.accepted !== true) return
    write({ what: 'told', id, attempt, how })
    told()
  }

  /** One look: says that it lives, moves what is due, takes back what others left, and takes on what it has room for. */
  async function pass(): Promise<void> {
    const pulse = await store.renew({
      instance: id,
      leaseMs: LEASE_MS,
      renewEveryMs: RENEW_EVERY_MS,
      ...serves,
    } as unknown as PulseRequest)
    if (!pulse.alive) return write({ what: 'lost' })
    if (pulse.expired) await store.reap({ crashesUntilDead: 3, limit: 10 })
    await store.stage(100)
    const room = WORKERS - running.size
    if (stopping.signal.aborted || room === 0) return
    const queues = [{ queue: QUEUE, room }]
    for (const lease of await store.claim({
      instance: id,
      queues,
      kinds: serves.kinds,
      limit: room,
      suspects: 'skip',
    })) {
      const one = run(lease).finally(() => running.delete(one))
      running.add(one)
    }
  }

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      await untilKnown(pass)
      const anyEnds = [...running]
      await Promise.race([sleep(PULSE_MS), ...(anyEnds.length === WORKERS ? anyEnds : [])])
    }
  }
  const looping = loop()
  // Whoever stops waits for it; until then it must not be an unhandled one.
  looping.catch((error: unknown) => {
    console.error(`the process cannot go on: ${String(error)}`)
    process.exit(1)
  })

  /** What may succeed a moment later is tried again: the contract makes that safe. */
  async function untilKnown<T>(call: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await call()
      } catch (error) {
        if (!entry.isJobmillError(error) || !error.retryable) throw error
      }
    }
  }

  return {
    async enqueue(kind, work) {
      const orderKey = work.line === null ? {} : { orderKey: work.line }
      const [written] = await enqueue([{ kind, payload: work, queue: QUEUE, ...orderKey }])
      return written?.id ?? ''
    },
    async stop() {
      stopping.abort()
      await looping
      await Promise.all(running)
      await store.deregister(id)
      await store.close()
    },
  }
}
