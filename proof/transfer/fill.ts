/** Creates a SQLite file with mixed jobs, through the verbs of the store. */
import { sqlite } from 'jobmill/sqlite'
import { aClaim, anInstance, someJobs } from 'jobmill-conformance'

type Store = ReturnType<typeof sqlite>
type Finish = Parameters<Store['finish']>[0][number]
type Request = Parameters<typeof someJobs>[0][number]

const AT_ONCE = 1_000
const QUEUES = ['default', 'mail', 'reports', 'images']
const KINDS = ['work', 'send', 'render']

/** A third is delayed; some have tags, held dedupe keys, order keys, priorities and metadata. */
function requestOf(n: number): Request {
  return {
    queue: QUEUES[n % QUEUES.length] ?? 'default',
    kind: KINDS[n % KINDS.length] ?? 'work',
    payload: { n, text: 'x'.repeat(n % 300) },
    priority: n % 11 === 0 ? -1 : 0,
    ...(n % 3 === 0 && { delay: `${1 + (n % 48)}h` as const }),
    ...(n % 5 === 0 && { tags: [`tenant-${n % 100}`], metadata: { trace: n } }),
    ...(n % 7 === 0 && { dedupe: { key: `key-${n}`, holdFor: '2d' as const } }),
    ...(n % 13 === 0 && { orderKey: `line-${n % 500}` }),
  }
}

/** Attempts that end as done, dead, delayed, retried or cancelled. */
function endOf({ id, token }: { readonly id: string; readonly token: number }, n: number): Finish {
  const error = `attempt ${n} failed: ${'e'.repeat(n % 200)}`
  if (n % 10 < 6)
    return {
      id,
      token,
      outcome: 'returned',
      transition: { to: 'done', result: `{"n":${n}}` },
      log: `line ${n}`,
    }
  if (n % 10 === 6) return { id, token, outcome: 'failed-permanently', transition: { to: 'dead' }, error }
  if (n % 10 === 7) return { id, token, outcome: 'cancelled', transition: { to: 'cancelled' }, error }
  if (n % 10 === 8)
    return {
      id,
      token,
      outcome: 'failed',
      transition: { to: 'scheduled', delayMs: 3_600_000, refund: false },
      error,
    }
  return { id, token, outcome: 'failed', transition: { to: 'scheduled', delayMs: 0, refund: false }, error }
}

const MINUTE = 60_000
const SERVED = 1_500

/** A schedule that has served many ticks, and one that an operator deleted. */
async function plan(store: Store): Promise<void> {
  const definition = {
    when: '* * * * *',
    zone: 'UTC',
    jitterMs: 0,
    startAt: null,
    endAt: null,
    missed: 'last',
    missedWithinMs: MINUTE,
    overlap: 'allow',
    paused: false,
    kind: 'work',
    queue: 'default',
    payload: 'null',
    priority: 0,
    maxAttempts: 5,
    timeoutMs: null,
    tags: [],
  } as const
  const jobs = someJobs(Array.from({ length: SERVED }, () => ({})))
  await store.schedules.declare(
    ['every-minute', 'unwanted'].map((name) => ({ name, version: 1, definition })),
  )
  await store.schedules.delete('unwanted')
  await store.limits.declare([
    { name: 'smtp', settings: { type: 'rate', amount: 3, perMs: 1_000, burst: 3 } },
  ])
  const fires = jobs.map((job, n) => ({ at: n * MINUTE, job }))
  await store.schedules.tick([
    { schedule: 'every-minute', revision: 1, from: null, nextAt: SERVED * MINUTE, fires, missed: 0 },
  ])
}

/** Creates this many jobs in total, including those of the schedule. */
export async function fill(file: string, total: number): Promise<void> {
  const jobs = total - SERVED
  const store = sqlite(file, { durability: 'relaxed' })
  await store.open()
  for (let from = 0; from < jobs; from += AT_ONCE)
    await store.enqueue(
      someJobs(Array.from({ length: Math.min(AT_ONCE, jobs - from) }, (_, n) => requestOf(from + n))),
    )
  const instance = anInstance({ leaseMs: 3_600_000 })
  await store.instances.register(instance)
  const claim = aClaim(instance.id, { queues: QUEUES.map((queue) => ({ queue, room: 500 })), kinds: KINDS })
  for (let ended = 0; ended < jobs / 2; ended += claim.limit) {
    await store.stage(AT_ONCE)
    const leases = await store.claim(claim)
    await store.finish(leases.map((lease, n) => endOf(lease, ended + n)))
  }
  await plan(store)
  await store.queues.change('images', { settings: { paused: true }, coolMs: null })
  await store.instances.deregister(instance.id)
  await store.close()
}
