// Several handles work on one database concurrently, each through its own list of acts.
import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { NewJob } from '../../src/job/enqueue/new-job.ts'
import type { JobRecord } from '../../src/store/types/job-record.ts'
import type { FullStore } from '../../src/store/store.ts'
import { aJob, type ConformanceSubject } from '../../../conformance/src/index.ts'
import { type Act, type Crowd, KEYS, member, type MemberLog } from './crowd-acts.ts'

async function withCrowd(
  subject: ConformanceSubject<FullStore>,
  crowd: Crowd,
  makeJob: (act: Act) => NewJob,
  check: (store: FullStore, logs: readonly MemberLog[]) => Promise<void>,
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

/** Reads all jobs repeatedly while the others work: one read is one snapshot. */
async function watch(store: FullStore, ids: readonly string[], atWork: Promise<unknown>): Promise<void> {
  const over = new AbortController()
  const end = atWork.finally(() => over.abort()).catch(() => {})
  while (!over.signal.aborted) {
    assertOneHolder(await store.get(ids))
    // A read that never leaves the process would block all others.
    await nextTurn()
  }
  await end
}

function assertOneHolder(jobs: readonly (JobRecord | null)[]): void {
  const live = jobs.filter((job) => job !== null && ['scheduled', 'ready', 'running'].includes(job.state))
  const holders = live.flatMap((job) => job?.dedupeKey ?? [])
  assert.equal(new Set(holders).size, holders.length, 'two live jobs hold one dedupe key')
}

/** The existing jobs: all but those that were not kept. */
function keptOf(
  ids: readonly string[],
  jobs: readonly (JobRecord | null)[],
  logs: readonly MemberLog[],
): JobRecord[] {
  const forgotten = new Set(logs.flatMap((one) => [...one.forgotten]))
  for (const [n, id] of ids.entries())
    assert.equal(jobs[n] === null, forgotten.has(id), forgotten.has(id) ? 'not forgotten' : 'a job was lost')
  return jobs.filter((job) => job !== null)
}

/** No two members ever hold the same lease, and in the end every job exists. */
export async function claimOnce(subject: ConformanceSubject<FullStore>, crowd: Crowd): Promise<void> {
  await withCrowd(
    subject,
    crowd,
    () => aJob(),
    async (store, logs) => {
      const leases = logs.flatMap((one) => one.leases.map(({ id, token }) => `${id} ${token}`))
      assert.equal(new Set(leases).size, leases.length, 'a lease was given out twice')
      const ids = logs.flatMap((one) => one.enqueued.map(({ job }) => job.id))
      const jobs = await store.get(ids)
      const done = logs.flatMap((one) => [...one.ended])
      assert.equal(new Set(done).size, done.length, 'a job ended twice')
      const kept = keptOf(ids, jobs, logs)
      for (const job of kept) {
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
          kept.filter((job) => job.state === state).length,
          `counts of ${state}`,
        )
      }
    },
  )
}

function keyed({ key }: Act): NewJob {
  return aJob({ dedupe: { key: KEYS[key] ?? '' } })
}

/** At most one live job per key, and every duplicate was reported with a job that held the key. */
export async function dedupeOnce(subject: ConformanceSubject<FullStore>, crowd: Crowd): Promise<void> {
  await withCrowd(subject, crowd, keyed, async (store, logs) => {
    const all = logs.flatMap((one) => one.enqueued)
    const keyOf = new Map(
      all.filter(({ reply }) => reply.outcome === 'enqueued').map(({ job }) => [job.id, job.dedupe?.key]),
    )
    for (const { job, reply } of all) {
      assert.equal(keyOf.get(reply.id), job.dedupe?.key, 'the reported holder never held this key')
      assert.equal(reply.id === job.id, reply.outcome === 'enqueued')
    }
    const ids = [...keyOf.keys()]
    const jobs = await store.get(ids)
    assertOneHolder(jobs)
    keptOf(ids, jobs, logs)
  })
}
