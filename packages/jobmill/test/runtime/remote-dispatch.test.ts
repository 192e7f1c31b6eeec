/**
 * Remote dispatch through the whole runtime: one process writes a job for an idle worker of another.
 * PostgreSQL only, because it needs notifications between processes.
 */
import assert from 'node:assert/strict'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { recycledSchema } from '../../../../test/support/postgres/recycled-schemas.ts'
import { defineJob, type FullStore, type JobContext } from '../../src/index.ts'
import type { RemoteDispatch } from '../../src/store.ts'
import { postgres } from '../../src/postgres.ts'
import type { DispatchedJob } from '../../src/store/types/claim.ts'
import { faultyStore, testMill, type TestMill } from '../../src/testing/index.ts'
import { happened } from './stores.ts'

type Brings = (handed: DispatchedJob, take: (handed: DispatchedJob) => void) => void

/**
 * A client without workers that enqueues, and a mill with workers. `brings` intercepts each dispatched job.
 */
async function scene(brings: Brings = (handed, take) => take(handed)) {
  const url = inject('keptPostgresUrl')
  const schema = recycledSchema(url, 'over')
  const gates: (() => void)[] = []
  const job = defineJob({
    kind: 'work',
    run: ({ payload }: JobContext<string>) =>
      payload === 'hold' ? new Promise<void>((resolve) => void gates.push(resolve)) : undefined,
  })
  const arrived: DispatchedJob[] = []
  const stores: ReturnType<typeof faultyStore>[] = []
  const mill = await testMill<FullStore>({
    jobs: [job],
    store(platform) {
      const store: FullStore = postgres(url, { schema, clock: platform.now })
      const { remote } = store.notifier
      assert(remote !== undefined)
      const spy: RemoteDispatch = {
        ...remote,
        receive: (instance, take) =>
          remote.receive(instance, (handed) => {
            arrived.push(handed)
            brings(handed, take)
          }),
      }
      const spied: FullStore = { ...store, notifier: { ...store.notifier, remote: spy } }
      const faulty = faultyStore(spied)
      stores.push(faulty)
      return faulty
    },
  })
  onTestFinished(async () => void (await mill.stop({ grace: 0 })))
  const client: FullStore = postgres(url, { schema, clock: mill.platform.now })
  await client.open()
  onTestFinished(() => client.close())
  await mill.platform.settled()
  return { mill, job, arrived, client, gates, claims: () => stores[0]?.calls('claim') ?? 0 }
}

type Scene = Awaited<ReturnType<typeof scene>>

async function enqueued({ client, mill }: Scene): Promise<string> {
  const id = mill.platform.id()
  const rest = {
    priority: 0,
    maxAttempts: 5,
    dueAt: null,
    delayMs: 0,
    dedupe: null,
    timeoutMs: null,
    tags: [],
  }
  await client.enqueue([
    {
      ...rest,
      id,
      kind: 'work',
      queue: 'default',
      payload: '""',
      metadata: null,
      orderKey: null,
      group: null,
    },
  ])
  return id
}

/**
 * Enqueues jobs one by one until one is dispatched remotely. The first ones may be claimed instead, because
 * the offer of the idle worker has to arrive before the enqueue.
 */
async function jobDispatched(at: Scene): Promise<{ readonly id: string; readonly claimsBefore: number }> {
  for (;;) {
    const claimsBefore = at.claims()
    const id = await enqueued(at)
    const hasArrived = (): boolean => at.arrived.some(({ lease }) => lease.id === id)
    await expect.poll(() => hasArrived() || hasEnded(at.mill, id), OFTEN).toBe(true)
    if (hasArrived()) return { id, claimsBefore }
  }
}

const OFTEN = { interval: 5 }
const hasEnded = (mill: TestMill, id: string): boolean => happened(mill, id).includes('finished')

async function ended(mill: TestMill, id: string): Promise<void> {
  await expect.poll(() => hasEnded(mill, id), OFTEN).toBe(true)
}

describe('a job dispatched to an idle worker of another process', () => {
  test('P15 starts there without a claim', async () => {
    const at = await scene()
    const { id, claimsBefore } = await jobDispatched(at)
    await ended(at.mill, id)
    expect(happened(at.mill, id)).toEqual(['started', 'finished'])
    expect(at.claims()).toBe(claimsBefore)
    expect(await at.mill.history(id)).toMatchObject([{ outcome: 'returned', attempt: 1 }])
  })

  test('P3 P16 that does not arrive is found, released and run, without spending an attempt', async () => {
    let isLost = false
    const at = await scene((handed, take) => void (isLost || take(handed)))
    const { id: before } = await jobDispatched(at)
    await ended(at.mill, before)
    // Wait until no claim is recent enough for its reply to be outstanding.
    await at.mill.platform.advance('5s')
    isLost = true
    const { id } = await jobDispatched(at)
    expect((await at.client.get([id]))[0]?.state).toBe('running')
    await at.mill.platform.advance('6s')
    await ended(at.mill, id)
    expect(await at.mill.history(id)).toMatchObject([{ outcome: 'returned', attempt: 1 }])
  })

  test('P2 that arrives after it was released does not start a second time', async () => {
    const late: (() => void)[] = []
    const at = await scene((handed, take) => void late.push(() => take(handed)))
    const { id } = await jobDispatched(at)
    await at.mill.platform.advance('6s')
    await ended(at.mill, id)
    late.forEach((arrive) => arrive())
    await at.mill.platform.settled()
    expect(happened(at.mill, id).filter((type) => type === 'started')).toHaveLength(1)
  })

  test('P6 is released at once by a process that stops', async () => {
    const late: (() => void)[] = []
    const at = await scene((handed, take) => void late.push(() => take(handed)))
    const { id } = await jobDispatched(at)
    const held = await at.mill.enqueue(at.job, 'hold')
    await expect.poll(() => at.gates.length).toBe(1)
    const stopped = at.mill.stop({ grace: '1h' })
    await at.mill.platform.settled()
    late.forEach((arrive) => arrive())
    await expect.poll(async () => (await at.client.get([id]))[0]?.state).toBe('ready')
    at.gates.forEach((open) => open())
    await stopped
    expect((await at.client.get([held.id]))[0]?.state).toBe('done')
  })
})
