/**
 * A claim that has moved its jobs and has not committed, while other sessions work on these jobs. They must
 * wait or skip them. Afterward every job is in one place, whether the claim commits or rolls back.
 */
import { beforeEach, describe, expect, test } from 'vitest'
import type { JobState } from '../../src/job/state.ts'
import type { Lease } from '../../src/store/types/claim.ts'
import { aClaim, aHeartbeat, aJob, anInstance } from '../../../conformance/src/factories.ts'
import { CLAIMS, done, type End, ENDS, idsOf, openCalls } from './open-calls.ts'

const { admin, schema, store, slow, hold, untilBlocked, enqueue, claim, finish, expectStates } = openCalls()

let tests = 0
let queue = ''
beforeEach(() => {
  tests += 1
  queue = `open-${tests}`
})

interface OpenClaim {
  readonly me: string
  readonly ids: readonly string[]
  /** Returns the leases, or none after a rollback. */
  readonly end: (how: End) => Promise<Lease[]>
}

/** A claim of all jobs of the queue, in which there are `count` new ones. */
async function openClaim(count: number): Promise<OpenClaim> {
  const ids = await enqueue(queue, count)
  const me = anInstance({ queues: [queue], leaseMs: 3_600_000 })
  await store.instances.register(me)
  const end = await hold(() => slow.claim(aClaim(me.id, { queues: [{ queue, room: 500 }] })))
  return { me: me.id, ids, end: async (how) => (await end(how)) ?? [] }
}

const reap = () => store.instances.reap({ crashesUntilDead: 3, limit: 100 })

/** Lets the lease of an instance expire, and returns how many jobs the reaper finds. */
async function lose(me: string): Promise<number> {
  await admin.query(`UPDATE ${schema}.instance SET expires_at = 0 WHERE id = $1`, [me])
  const { instances, jobs } = await reap()
  expect(instances).toEqual([me])
  return jobs.length
}

describe.each(CLAIMS)('postgres: an open claim that writes %s', (_, size, rows) => {
  describe.each(ENDS)('and %s', (how) => {
    const isCommitted = how === 'commits'

    test('P2 P3 another claim skips its jobs', async () => {
      const { ids, end } = await openClaim(size)
      expect(await claim(queue)).toEqual([])
      const leases = await end(how)
      const others = await claim(queue)
      expect([idsOf(leases), idsOf(others)]).toEqual(isCommitted ? [ids, []] : [[], ids])
      await finish([...leases, ...others])
      await expectStates(
        queue,
        ids,
        ids.map(() => 'done'),
      )
    })

    test('P8 a cancel waits for it, and reaches the jobs that it leased', async () => {
      const { me, ids, end } = await openClaim(size)
      const targets = ids.slice(0, 2)
      const cancelling = store.cancel(targets, 'why')
      await untilBlocked(cancelling)
      const leases = await end(how)
      const state = isCommitted ? 'running' : 'cancelled'
      expect(await cancelling).toEqual(targets.map((id) => ({ id, verdict: 'changed', state })))
      const { cancels } = await store.instances.renew(aHeartbeat(me, { queues: [queue] }))
      expect(idsOf(cancels).toSorted()).toEqual(isCommitted ? targets.toSorted() : [])
      await store.finish(
        leases.slice(0, 2).map(({ id, token }) => ({
          id,
          token,
          outcome: 'failed',
          transition: { to: 'scheduled', delayMs: 0, refund: false },
        })),
      )
      const others = await claim(queue)
      expect(idsOf(others)).toEqual(isCommitted ? [] : ids.slice(2))
      await finish([...leases.slice(2), ...others])
      await expectStates(
        queue,
        ids,
        ids.map((_, at) => (at < 2 ? 'cancelled' : 'done')),
      )
    })

    test('P3 a delete waits for it, and deletes no job that it leased', async () => {
      const { ids, end } = await openClaim(size)
      const [id = ''] = ids
      const deleting = store.delete([id])
      await untilBlocked(deleting)
      const leases = await end(how)
      expect(await deleting).toEqual([
        isCommitted ? { id, verdict: 'refused', state: 'running' } : { id, verdict: 'changed', state: null },
      ])
      const others = await claim(queue)
      expect(idsOf(others)).toEqual(isCommitted ? [] : ids.slice(1))
      await finish([...leases, ...others])
      await expectStates(
        queue,
        ids,
        ids.map((_, at) => (at === 0 && !isCommitted ? null : 'done')),
      )
    })

    test.each(['retry', 'runNow'] as const)(
      'P2 P3 %s leaves its jobs, and makes another job ready for another claim',
      async (verb) => {
        const { ids, end } = await openClaim(size)
        const [id = ''] = ids
        const other = aJob({ queue, ...(verb === 'runNow' && { delay: '1h' }) })
        await store.enqueue([other])
        if (verb === 'retry') await store.cancel([other.id], 'why')
        const verdict = verb === 'retry' ? 'refused' : 'unchanged'
        expect(await store[verb]([id, other.id])).toEqual([
          { id, verdict, state: 'ready' },
          { id: other.id, verdict: 'changed', state: 'ready' },
        ])
        const early = await claim(queue)
        expect(idsOf(early)).toEqual([other.id])
        const leases = await end(how)
        expect(await store[verb]([id])).toEqual([
          isCommitted ? { id, verdict: 'refused', state: 'running' } : { id, verdict, state: 'ready' },
        ])
        const others = await claim(queue)
        expect([idsOf(leases), idsOf(others)]).toEqual(isCommitted ? [ids, []] : [[], ids])
        await finish([...early, ...leases, ...others])
        const all = [...ids, other.id]
        await expectStates(
          queue,
          all,
          all.map(() => 'done'),
        )
      },
    )

    test('P3 P11 an enqueue that replaces one of its jobs waits for it, and changes no payload of a lease', async () => {
      const replacing = (payload: string) =>
        aJob({ queue, payload, dedupe: { key: queue, onConflict: 'replace' } })
      const keyed = replacing('old')
      await store.enqueue([keyed])
      const { ids, end } = await openClaim(size)
      const enqueuing = store.enqueue([replacing('new')])
      await untilBlocked(enqueuing)
      const leases = await end(how)
      expect(await enqueuing).toEqual([{ id: keyed.id, outcome: isCommitted ? 'duplicate' : 'replaced' }])
      const all = [keyed.id, ...ids]
      const running = isCommitted ? leases : await claim(queue)
      expect(idsOf(running)).toEqual(all)
      const payload = isCommitted ? '"old"' : '"new"'
      expect(running[0]?.payload).toBe(payload)
      expect(await store.get([keyed.id])).toMatchObject([{ payload, state: 'running' }])
      await finish(running)
      await expectStates(
        queue,
        all,
        all.map(() => 'done'),
      )
    })

    test.each([
      ['P2 P4 P5 the reaper that finds its instance lost', lose, 1],
      ['P2 P6 the stop of its instance', (me: string) => store.instances.deregister(me), 0],
    ] as const)('%s leaves its jobs to the next pass of the reaper', async (_title, endInstance, crashes) => {
      const { me, ids, end } = await openClaim(size)
      expect(await endInstance(me)).toBe(0)
      const leases = await end(how)
      expect(idsOf((await reap()).jobs)).toEqual(isCommitted ? ids.toSorted() : [])
      expect((await slow.finish(leases.map(done))).filter(({ accepted }) => accepted)).toEqual([])
      const others = await claim(queue)
      expect(others.map((lease) => [lease.id, lease.crashes])).toEqual(
        ids.map((id) => [id, isCommitted ? crashes : 0]),
      )
      await finish(others)
      await expectStates(
        queue,
        ids,
        ids.map(() => 'done'),
      )
    })

    test('P7 a pause does not wait for it: its jobs run, and no others', async () => {
      const { ids, end } = await openClaim(size)
      const change = (paused: boolean) => store.queues.change(queue, { settings: { paused }, coolMs: null })
      await change(true)
      await finish(await end(how))
      expect(await claim(queue)).toEqual([])
      await expectStates(
        queue,
        ids,
        ids.map(() => (isCommitted ? 'done' : 'ready')),
      )
      await change(false)
      const others = await claim(queue)
      expect(idsOf(others)).toEqual(isCommitted ? [] : ids)
      await finish(others)
    })

    test('P3 reads show its jobs as ready until it has committed, then as running', async () => {
      const { me, ids, end } = await openClaim(size)
      const look = async (state: JobState): Promise<void> => {
        await expectStates(
          queue,
          ids,
          ids.map(() => state),
        )
        const lists = (['ready', 'running'] as const).map((one) =>
          store.list({ queue, state: one }, { limit: 500 }),
        )
        const [ready, running] = (await Promise.all(lists)).map(({ jobs }) => idsOf(jobs))
        expect([ready, running]).toEqual(state === 'ready' ? [ids, []] : [[], ids.toSorted()])
        const held = state === 'ready' ? [] : ids.toSorted()
        expect(idsOf(await store.instances.held(me))).toEqual(held)
        const { rows: found } = await admin.query(
          `SELECT (SELECT count(*) FROM ${schema}.running WHERE id = ANY ($1))::int4 AS running,
                  (SELECT count(*) FROM ${schema}.batch WHERE ids && $1)::int4 AS batches`,
          [ids],
        )
        expect(found).toEqual([state === 'ready' ? { running: 0, batches: 0 } : rows])
      }
      await look('ready')
      const leases = await end(how)
      await look(isCommitted ? 'running' : 'ready')
      await finish(isCommitted ? leases : await claim(queue))
    })
  })
})
