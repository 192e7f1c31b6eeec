// Several handles at work on one database at once, each through its own list of acts.
import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import * as fc from 'fast-check'
import type { NewJob } from '../../src/job/new-job.ts'
import type { Lease } from '../../src/store/claim.ts'
import type { JobRecord } from '../../src/store/job-record.ts'
import type { Enqueued } from '../../src/store/replies.ts'
import type { Store } from '../../src/store/store.ts'
import { aClaim, aJob, anInstance, type ConformanceSubject } from '../../src/testing/index.ts'

const KEYS = ['k1', 'k2', 'k3']

interface Act {
  readonly verb: 'enqueue' | 'claim' | 'finish' | 'release' | 'cancel'
  readonly key: number
  readonly many: number
}

/** For each member of the crowd, what it does, one after the other. */
export type Crowd = readonly (readonly Act[])[]

const anAct: fc.Arbitrary<Act> = fc.record({
  verb: fc.constantFrom('enqueue', 'enqueue', 'claim', 'claim', 'finish', 'release', 'cancel'),
  key: fc.nat({ max: KEYS.length - 1 }),
  many: fc.integer({ min: 1, max: 4 }),
})

export const aCrowd: fc.Arbitrary<Crowd> = fc.array(
  fc.array(anAct, { minLength: 10, maxLength: 25, size: 'max' }),
  {
    minLength: 3,
    maxLength: 4,
  },
)

/** What a member did and was told. */
interface Told {
  readonly enqueued: { readonly job: NewJob; readonly reply: Enqueued }[]
  readonly leases: Lease[]
  readonly ended: Set<string>
}

async function withCrowd(
  subject: ConformanceSubject,
  crowd: Crowd,
  makeJob: (act: Act) => NewJob,
  check: (store: Store, told: readonly Told[]) => Promise<void>,
): Promise<void> {
  await subject.fresh()
  const watcher = subject.handle({})
  const stores = crowd.map(() => subject.handle({}))
  try {
    for (const store of [watcher, ...stores]) await store.open()
    const ids: string[] = []
    const noted = (act: Act): NewJob => {
      const job = makeJob(act)
      ids.push(job.id)
      return job
    }
    const atWork = Promise.all(stores.map((store, n) => member(store, crowd[n] ?? [], noted)))
    await watch(watcher, ids, atWork)
    await check(watcher, await atWork)
  } finally {
    await Promise.all([watcher, ...stores].map((store) => store.close()))
  }
}

/** Looks at all jobs, again and again, while the others are at work: one read is one moment. */
async function watch(store: Store, ids: readonly string[], atWork: Promise<unknown>): Promise<void> {
  const over = new AbortController()
  const end = atWork.finally(() => over.abort()).catch(() => {})
  while (!over.signal.aborted) {
    assertOneHolder(await store.get(ids))
    // A read that never leaves the process would let nobody else do anything.
    await nextTurn()
  }
  await end
}

function assertOneHolder(jobs: readonly (JobRecord | null)[]): void {
  const live = jobs.filter((job) => job !== null && ['scheduled', 'ready', 'running'].includes(job.state))
  const holders = live.flatMap((job) => job?.dedupeKey ?? [])
  assert.equal(new Set(holders).size, holders.length, 'two live jobs hold one dedupe key')
}

async function member(store: Store, acts: readonly Act[], makeJob: (act: Act) => NewJob): Promise<Told> {
  const instance = anInstance({ leaseMs: 600_000 })
  await store.register(instance)
  const told: Told = { enqueued: [], leases: [], ended: new Set() }
  const hand: Lease[] = []
  for (const act of acts) await ACTS[act.verb]({ store, act, makeJob, told, hand, instance: instance.id })
  return told
}

interface Moment {
  readonly store: Store
  readonly act: Act
  readonly makeJob: (act: Act) => NewJob
  readonly told: Told
  readonly hand: Lease[]
  readonly instance: string
}

const ACTS: Readonly<Record<Act['verb'], (moment: Moment) => Promise<void>>> = {
  async enqueue({ store, act, makeJob, told }) {
    const jobs = Array.from({ length: act.many }, () => makeJob(act))
    const replies = await store.enqueue(jobs)
    for (const [n, reply] of replies.entries()) {
      const job = jobs[n]
      if (job !== undefined) told.enqueued.push({ job, reply })
    }
  },
  async claim({ store, act, told, hand, instance }) {
    const leases = await store.claim(aClaim(instance, { limit: act.many }))
    told.leases.push(...leases)
    hand.push(...leases)
  },
  async finish({ store, act, told, hand }) {
    const leases = hand.splice(0, act.many)
    const items = leases.map(({ id, token }) => ({
      id,
      token,
      transition: { to: 'done', result: null } as const,
      outcome: 'returned' as const,
    }))
    for (const { id, accepted } of await store.finish(items)) {
      assert.equal(accepted, true, 'nobody else may end what this member holds')
      told.ended.add(id)
    }
  },
  async release({ store, act, told, hand }) {
    const leases = hand.splice(0, act.many)
    const items = leases.map(({ id, token }) => ({
      id,
      token,
      transition: { to: 'ready' } as const,
      outcome: null,
    }))
    // One that somebody asked to cancel ends here.
    for (const { id, state } of await store.finish(items)) if (state === 'cancelled') told.ended.add(id)
  },
  async cancel({ store, told }) {
    const mine = told.enqueued.at(-1)?.reply.id
    if (mine === undefined) return
    const [verdict] = await store.cancel([mine], 'no')
    if (verdict?.verdict === 'changed' && verdict.state === 'cancelled') told.ended.add(mine)
  },
}

/** No two members ever hold the same lease, and in the end every job is somewhere. */
export async function claimOnce(subject: ConformanceSubject, crowd: Crowd): Promise<void> {
  await withCrowd(
    subject,
    crowd,
    () => aJob(),
    async (store, told) => {
      const leases = told.flatMap((one) => one.leases.map(({ id, token }) => `${id} ${token}`))
      assert.equal(new Set(leases).size, leases.length, 'a lease was given out twice')
      const ids = told.flatMap((one) => one.enqueued.map(({ job }) => job.id))
      const jobs = await store.get(ids)
      const done = told.flatMap((one) => [...one.ended])
      assert.equal(new Set(done).size, done.length, 'a job ended twice')
      for (const job of jobs) {
        assert.ok(job, 'a job was lost')
        assert.equal(
          ['done', 'cancelled'].includes(job.state),
          done.includes(job.id),
          `nobody ended this ${job.state} job`,
        )
      }
      const [counts] = await store.counts()
      for (const state of ['ready', 'running', 'done', 'cancelled'] as const) {
        assert.equal(
          counts?.[state] ?? 0,
          jobs.filter((job) => job?.state === state).length,
          `counts of ${state}`,
        )
      }
    },
  )
}

function keyed({ key }: Act): NewJob {
  return aJob({ dedupe: { key: KEYS[key] ?? '' } })
}

/** At most one live job per key, and whoever was called a duplicate was told of a job that held that key. */
export async function dedupeOnce(subject: ConformanceSubject, crowd: Crowd): Promise<void> {
  await withCrowd(subject, crowd, keyed, async (store, told) => {
    const all = told.flatMap((one) => one.enqueued)
    const keyOf = new Map(
      all.filter(({ reply }) => reply.outcome === 'enqueued').map(({ job }) => [job.id, job.dedupe?.key]),
    )
    for (const { job, reply } of all) {
      assert.equal(keyOf.get(reply.id), job.dedupe?.key, 'the holder that was told never held this key')
      assert.equal(reply.id === job.id, reply.outcome === 'enqueued')
    }
    const jobs = await store.get([...keyOf.keys()])
    assertOneHolder(jobs)
    assert.ok(
      jobs.every((job) => job !== null),
      'a job was lost',
    )
  })
}
