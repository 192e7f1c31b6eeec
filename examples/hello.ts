/**
 * Hello, Jobmill: enqueue a few jobs on one SQLite file and work through them, by the verbs of the store alone.
 * Run it again: the file is kept, so jobs that are due later are still there.
 */
import path from 'node:path'
import { enqueuer, errorText, systemPlatform, type Finish, type Lease } from 'jobmill'
import { sqlite } from 'jobmill/sqlite'

const file = path.resolve('hello.db')
const store = sqlite(file)
await store.open()
console.log(`store      ${store.name}`)

// 1. Enqueue. The promise resolves after the commit: from here on the jobs survive a crash.
const jobs = await enqueuer(store).enqueue([
  { kind: 'email.send', payload: { to: 'ada@example.com' } },
  { kind: 'email.send', payload: { to: 'grace@example.com' }, priority: -1 },
  { kind: 'report.build', payload: { month: '2026-10' }, delay: '500ms' },
  { kind: 'flaky.call', payload: { failTimes: 2 }, maxAttempts: 3 },
  { kind: 'email.send', payload: { to: 'ada@example.com' }, dedupe: { key: 'welcome:ada', holdFor: '1h' } },
  { kind: 'email.send', payload: { to: 'ada@example.com' }, dedupe: { key: 'welcome:ada', holdFor: '1h' } },
])
for (const { id, outcome } of jobs) console.log(`${outcome.padEnd(10)} ${id}`)

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

// 3. Work until nothing of ours is left: stage what is due, claim, run, finish, and wait for the doorbell.
const instance = systemPlatform.id()
await store.register({
  id: instance,
  label: 'hello',
  version: null,
  queues: ['default'],
  kinds,
  capacity: 10,
  leaseMs: 10_000,
})
for (;;) {
  const pulse = await store.renew({
    instance,
    leaseMs: 10_000,
    renewEveryMs: 3_000,
    queues: ['default'],
    kinds,
  })
  if (pulse.stageInMs === 0) await store.stage(100)
  const leases = await store.claim({
    instance,
    queues: [{ queue: 'default', room: 10 }],
    kinds,
    limit: 10,
    suspects: 'skip',
  })
  if (leases.length > 0) await store.finish(leases.map((lease) => attempt(lease)))
  else if (pulse.stageInMs === null && !pulse.ready) break
  else await store.wait({ queues: ['default'], timeoutMs: Math.min(pulse.stageInMs ?? 1_000, 1_000) })
}
await store.deregister(instance)

// 4. Nothing is forgotten: every state is counted, every attempt is kept.
for (const { queue, done, dead, ready, scheduled } of await store.counts()) {
  console.log(`queue      ${queue}: ${done} done, ${dead} dead, ${ready} ready, ${scheduled} scheduled`)
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
console.log(`\nAll of it is in ${file}. Run this again and the counts go on; delete the file to begin anew.`)
