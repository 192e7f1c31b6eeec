/**
 * Hello, Jobmill: enqueue a few jobs and work through them, by the verbs of the store alone. On one SQLite file, or on the PostgreSQL
 * server that DATABASE_URL names. Kill it half-way and run it again: what it held is taken back and done.
 */
import path from 'node:path'
import {
  enqueuer,
  errorText,
  systemPlatform,
  type Finish,
  type JobRequest,
  type Lease,
  type Store,
} from 'jobmill'
import { postgres } from 'jobmill/postgres'
import { sqlite } from 'jobmill/sqlite'

const url = process.env['DATABASE_URL']
const file = path.resolve('hello.db')
const store: Store = url === undefined ? sqlite(file) : postgres(url)
await store.open()
console.log(`store      ${store.name}`)

// 1. Enqueue. The promise resolves after the commit: from here on the jobs survive a crash.
const requests: JobRequest[] = [
  { kind: 'email.send', payload: { to: 'ada@example.com' } },
  { kind: 'email.send', payload: { to: 'grace@example.com' }, priority: -1 }, // lower runs first
  { kind: 'report.build', payload: { month: '2026-10' }, delay: '500ms' },
  { kind: 'flaky.call', payload: { failTimes: 2 }, maxAttempts: 3 },
  // The same key twice: one job. And for an hour after it is done, so the next run finds both to be duplicates.
  {
    kind: 'email.send',
    payload: { to: 'linus@example.com' },
    dedupe: { key: 'welcome:linus', holdFor: '1h' },
  },
  {
    kind: 'email.send',
    payload: { to: 'linus@example.com' },
    dedupe: { key: 'welcome:linus', holdFor: '1h' },
  },
]
const jobs = await enqueuer(store).enqueue(requests)
for (const [at, { id, outcome }] of jobs.entries()) {
  console.log(`${outcome.padEnd(10)} ${id} ${requests[at]?.kind} ${JSON.stringify(requests[at]?.payload)}`)
}

// 2. Handlers: one function per kind.
const handlers: Record<
  string,
  (payload: { to?: string; month?: string; failTimes?: number }, lease: Lease) => unknown
> = {
  'email.send': ({ to }) => ({ sent: to }),
  'report.build': ({ month }) => ({ pages: 12, month }),
  'flaky.call': ({ failTimes = 0 }, { attempt }) => {
    if (attempt <= failTimes)
      throw new Error('upstream said 503', { cause: new Error('connect ECONNREFUSED') })
    return { attempt }
  },
}
const kinds = Object.keys(handlers)

/** Runs one leased job. Whatever the handler does becomes a transition that is written under the lease's token. */
function attempt(lease: Lease): Finish {
  const { id, token } = lease
  try {
    const result = handlers[lease.kind]?.(JSON.parse(lease.payload) as object, lease)
    console.log(`done       ${id} ${lease.kind} attempt ${lease.attempt}: ${JSON.stringify(result)}`)
    return { id, token, outcome: 'returned', transition: { to: 'done', result: JSON.stringify(result) } }
  } catch (error) {
    const last = lease.attempt >= lease.maxAttempts
    console.log(
      `${last ? 'dead      ' : 'retry     '} ${id} ${lease.kind} attempt ${lease.attempt}: ${String(error)}`,
    )
    const transition = last
      ? ({ to: 'dead' } as const)
      : ({ to: 'scheduled', delayMs: 300, refund: false } as const)
    return { id, token, outcome: 'threw', error: errorText(error), transition }
  }
}

// 3. Work until nothing is left: hear what there is to do, do it, and wait for the doorbell.
const instance = systemPlatform.id()
const queues = ['default']
const me = { id: instance, label: 'hello', version: null, queues, kinds, capacity: 10, leaseMs: 10_000 }
const claim = { instance, queues: [{ queue: 'default', room: 10 }], kinds, limit: 10 } as const
await store.register(me)
for (;;) {
  const pulse = await store.renew({ instance, leaseMs: 10_000, renewEveryMs: 3_000, queues, kinds })
  if (!pulse.alive) await store.register(me) // stalled for longer than the lease: what we held is not ours any more
  if (pulse.expired) {
    const { jobs: taken } = await store.reap({ crashesUntilDead: 3, limit: 10 })
    for (const { id, kind, crashes, state } of taken)
      console.log(`taken back ${id} ${kind} is ${state}, crash ${crashes}`)
  }
  if (pulse.stageInMs === 0) await store.stage(100)
  // A job that has crashed twice is run alone.
  const leases = await store.claim({ ...claim, suspects: pulse.suspect ? 'only' : 'skip' })
  if (leases.length > 0) await store.finish(leases.map((lease) => attempt(lease)))
  else if (await nothingLeft()) break
  else await store.wait({ queues, timeoutMs: Math.min(pulse.stageInMs ?? 1_000, 1_000) })
}
await store.deregister(instance)

/** Jobs that another process runs, or died with, are waited for: in ten seconds at most they come back. */
async function nothingLeft(): Promise<boolean> {
  const counts = await store.counts()
  return counts.every(({ scheduled, ready, running }) => scheduled + ready + running === 0)
}

// 4. Nothing is forgotten: every state is counted, every attempt is kept.
for (const { queue, done, dead, cancelled, running, ready, scheduled } of await store.counts()) {
  const waiting = `${scheduled} scheduled, ${ready} ready, ${running} running`
  console.log(`queue      ${queue}: ${done} done, ${dead} dead, ${cancelled} cancelled, ${waiting}`)
}
const flaky = jobs[3]
if (flaky !== undefined) {
  for (const { attempt: number, outcome, error } of await store.history(flaky.id)) {
    console.log(
      `history    ${flaky.id} attempt ${number} ${outcome}${error === null ? '' : `: ${error.replaceAll('\n', ' ')}`}`,
    )
  }
}
await store.close()
if (url === undefined)
  console.log(
    `\nAll of it is in ${file}. Run this again and the counts go on; delete the file to begin anew.`,
  )
