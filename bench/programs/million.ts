/**
 * Measures a claim on a full queue: with 1,000,000 deferred jobs (an empty claim) and with 1,000,000 ready
 * ones (a claim of one, then released), compared with 1,000. Medians of many calls, both stores in one run.
 *
 *   npm run bench:million -- [--jobs 1000000] [--calls 500]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import type { FullStore } from 'jobmill'
import { postgres } from 'jobmill/postgres'
import { sqlite } from 'jobmill/sqlite'
import { aClaim, aJob, anInstance } from 'jobmill-conformance'
import { fillPostgres, fillSqlite } from '../../test/support/fill.ts'
import { startPostgres } from '../../test/support/postgres/postgres-server.ts'

const { values } = parseArgs({
  options: { jobs: { type: 'string', default: '1000000' }, calls: { type: 'string', default: '500' } },
})
const MANY = Number(values.jobs)
const CALLS = Number(values.calls)
const FEW = 1_000
const STATES = ['scheduled', 'ready'] as const
type State = (typeof STATES)[number]

async function claimMs(store: FullStore): Promise<number> {
  const instance = anInstance({ queues: ['full'], kinds: ['known'], leaseMs: 600_000 })
  await store.instances.register(instance)
  const request = aClaim(instance.id, { queues: [{ queue: 'full', room: 1 }], kinds: ['known'], limit: 1 })
  const times: number[] = []
  for (let n = 0; n < CALLS; n += 1) {
    const began = performance.now()
    const leases = await store.claim(request)
    times.push(performance.now() - began)
    const back = { transition: { to: 'ready' }, outcome: null } as const
    if (leases.length > 0) await store.finish(leases.map(({ id, token }) => ({ id, token, ...back })))
  }
  return times.toSorted((a, b) => a - b)[Math.floor(CALLS / 2)] ?? Number.NaN
}

/** Creates the queue and the kind with a job that is then removed. */
async function prepare(store: FullStore): Promise<FullStore> {
  await store.open()
  const job = aJob({ queue: 'full', kind: 'known' })
  await store.enqueue([job])
  await store.delete([job.id])
  return store
}

const folder = mkdtempSync(path.join(tmpdir(), 'jobmill-bench-'))
const server = await startPostgres({ binaries: 'current' })
console.log(
  `claims with ${MANY.toLocaleString('en')} jobs against ${FEW.toLocaleString('en')}, median of ${CALLS} calls`,
)

async function measure(name: 'sqlite' | 'postgres', state: State, jobs: number): Promise<number> {
  const place = `${state}_${jobs}`
  const file = path.join(folder, `${place}.db`)
  const store = await prepare(
    name === 'sqlite' ? sqlite(file) : postgres(server.url, { schema: place, notifier: false }),
  )
  try {
    if (name === 'sqlite') fillSqlite(file, jobs, state)
    else await fillPostgres(server.url, place, jobs, state)
    return await claimMs(store)
  } finally {
    await store.close()
  }
}

let isSlow = false
try {
  for (const name of ['sqlite', 'postgres'] as const) {
    for (const state of STATES) {
      const few = await measure(name, state, FEW)
      const many = await measure(name, state, MANY)
      // The target is about an empty claim on a deferred queue; a claim of one job also writes.
      isSlow ||= state === 'scheduled' && many >= 1
      const what = state === 'scheduled' ? 'deferred, empty claim' : 'ready, claim of one'
      console.log(
        `${name.padEnd(9)} ${what.padEnd(22)} ${few.toFixed(3)} ms → ${many.toFixed(3)} ms   × ${(many / few).toFixed(2)}`,
      )
    }
  }
} finally {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
if (isSlow) {
  console.error('an empty claim took 1 ms or more')
  process.exitCode = 1
}
