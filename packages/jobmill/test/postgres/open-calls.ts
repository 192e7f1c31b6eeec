/** Two stores on one schema: the calls of `slow` can be held open while `store` makes others. */
import pg from 'pg'
import { afterAll, beforeAll, expect, inject } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { closeGate, createGate, untilWaiting, urlWithGates } from '../../../../test/support/postgres/gate.ts'
import { JOB_STATES, type JobState } from '../../src/job/state.ts'
import { postgres, type Tx } from '../../src/postgres.ts'
import type { Lease } from '../../src/store/types/claim.ts'
import type { Finish } from '../../src/store/types/finish.ts'
import type { FullStore } from '../../src/store/store.ts'
import { aClaim, anInstance, someJobs } from '../../../conformance/src/factories.ts'

/** How many new jobs a claim takes, and its rows for them. 50 jobs or more move the shared scan cursor. */
export const CLAIMS = [
  ['a row for each job', 5, { running: 5, batches: 0 }],
  ['a batch', 60, { running: 0, batches: 1 }],
] as const

export type End = 'commits' | 'rolls back'
export const ENDS: readonly End[] = ['commits', 'rolls back']

/** Lets an open call commit, or cancels its statement. Null after a rollback. */
type Ending<T> = (how: End) => Promise<T | null>

export interface OpenCalls {
  readonly admin: pg.Client
  readonly schema: string
  readonly store: FullStore<Tx>
  readonly slow: FullStore<Tx>
  /** Resolves when the call has written everything, and has not committed. Only one at a time. */
  readonly hold: <T>(call: () => Promise<T>) => Promise<Ending<T>>
  /** Resolves when this other call waits for the open one. */
  readonly untilBlocked: (call: Promise<unknown>) => Promise<void>
  /** Enqueues jobs, and returns their ids in order. */
  readonly enqueue: (queue: string, count: number) => Promise<string[]>
  /** Claims all jobs that are ready, for a new instance. */
  readonly claim: (queue: string, from?: FullStore<Tx>) => Promise<Lease[]>
  /** Ends these leases as done. Throws unless each was the only one of its job. */
  readonly finish: (leases: readonly Lease[]) => Promise<void>
  /** Also checks that the counters of the queue agree. */
  readonly expectStates: (
    queue: string,
    ids: readonly string[],
    states: readonly (JobState | null)[],
  ) => Promise<void>
}

/** For one test file. The gate is where jobs leave `ready`. */
export function openCalls(): OpenCalls {
  const url = inject('postgresUrl')
  const schema = freshSchema(url, 'open_calls')
  const admin = new pg.Client({ connectionString: url })
  const store = postgres(url, { schema, notifier: false })
  const slow = postgres(urlWithGates(url), { schema, notifier: false })
  beforeAll(async () => {
    await admin.connect()
    await store.open()
    await slow.open()
    await createGate(admin, schema, 'DELETE ON ready')
  })
  afterAll(() => Promise.all([store.close(), slow.close(), admin.end()]))

  return {
    admin,
    schema,
    store,
    slow,
    async hold(call) {
      const gate = await closeGate(admin, schema)
      const calling = call()
      await untilWaiting(admin, schema, 1, calling)
      return async (how) => {
        await (how === 'commits' ? gate.open() : gate.cancel())
        const result = await calling.catch((error: unknown) => {
          expect([how, error]).toMatchObject(['rolls back', { code: 'STORE_BUSY' }])
          return null
        })
        await gate.open()
        return result
      }
    },
    untilBlocked: (call) => untilWaiting(admin, schema, 2, call),
    async enqueue(queue, count) {
      const jobs = someJobs(Array.from({ length: count }, () => ({ queue })))
      await store.enqueue(jobs)
      return jobs.map(({ id }) => id)
    },
    async claim(queue, from = store) {
      const me = anInstance({ queues: [queue], leaseMs: 3_600_000 })
      await store.instances.register(me)
      return from.claim(aClaim(me.id, { queues: [{ queue, room: 500 }] }))
    },
    async finish(leases) {
      const replies = await store.finish(leases.map(done))
      expect(replies.map(({ accepted, again }) => [accepted, again])).toEqual(
        leases.map(() => [true, undefined]),
      )
    },
    async expectStates(queue, ids, states) {
      expect((await store.get(ids)).map((job) => job?.state ?? null)).toEqual(states)
      const counts = (await store.counts()).find((one) => one.queue === queue)
      const expected = JOB_STATES.map((state) => [state, states.filter((one) => one === state).length])
      expect(JOB_STATES.map((state) => [state, counts?.[state]])).toEqual(expected)
    },
  }
}

export const done = ({ id, token }: Lease): Finish => ({
  id,
  token,
  outcome: 'returned',
  transition: { to: 'done', result: null },
})

export const idsOf = (items: readonly { readonly id: string }[]): string[] => items.map(({ id }) => id)
