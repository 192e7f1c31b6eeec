/**
 * Measures a pass of retention on PostgreSQL while another store claims and finishes jobs at a steady pace:
 * deleted jobs per second, and the latency of a claim with and without the pass. Both alternate. The CPU time
 * of a deleted job hardly depends on other programs; the rest is valid only if `noise` is near 0.
 *
 *   npm run bench:retention -- [--jobs 200000] [--rounds 3]
 */
import { parseArgs } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { jobmill } from 'jobmill'
import { postgres } from 'jobmill/postgres'
import type { FullStore } from 'jobmill'
import { aClaim, anInstance, someJobs } from 'jobmill-conformance'
import { startPostgres } from '../../test/support/postgres/postgres-server.ts'
import { cpuOfTree, noiseMeter } from '../measure/cpu.ts'

const { values } = parseArgs({
  options: { jobs: { type: 'string', default: '200000' }, rounds: { type: 'string', default: '3' } },
})
const JOBS = Number(values.jobs)
const ROUNDS = Number(values.rounds)
/** More than the claims of one round take. */
const READY = 40_000
const BULK = 1_000
/** A claim of ten jobs every 10 ms: 1,000 jobs per second. */
const CLAIMED = 10
const EVERY_MS = 10
const QUIET_MS = 5_000

const TARGET_RATE = 20_000
const TARGET_RATIO = 1.2

const server = await startPostgres({ binaries: 'current', settings: { fsync: 'on' } })

/** Done jobs of a week ago with one attempt each, as if they had run one after the other. */
async function fillEnded(round: number): Promise<void> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  const made = `SELECT n, ('00000000-000${round}-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid AS id,
      (SELECT id FROM jobmill.queue WHERE name = 'old') AS queue_id,
      (SELECT id FROM jobmill.kind WHERE name = 'work') AS kind_id FROM generate_series(1, ${JOBS}) AS n`
  await client.query(`INSERT INTO jobmill.job (id, queue_id, kind_id, priority, max_attempts, payload, enqueued_at)
    SELECT id, queue_id, kind_id, 0, 5, '{"to":"ada@example.com","subject":"Your invoice for November"}', n FROM (${made}) AS made`)
  await client.query(`INSERT INTO jobmill.attempt (job_id, token, instance, started_at, ended_at, queue_id, attempt, spent, crashes,
      outcome, ended_as, tries, result)
    SELECT id, n, id, n, n, queue_id, 1, 1, 0, 0, 3, 1, '{"ok":true}' FROM (${made}) AS made`)
  await client.query(`INSERT INTO jobmill.tally (queue_id, to_state, n)
    SELECT id, 3, ${JOBS} FROM jobmill.queue WHERE name = 'old'`)
  for (const table of ['job', 'attempt']) await client.query(`VACUUM ANALYZE jobmill.${table}`)
  await client.query('CHECKPOINT')
  await client.end()
}

/** Claims until `signal` fires. Returns the latency of each claim. */
async function claims(store: FullStore, instance: string, signal: AbortSignal): Promise<number[]> {
  const times: number[] = []
  const request = aClaim(instance, {
    queues: [{ queue: 'work', room: CLAIMED }],
    kinds: ['work'],
    limit: CLAIMED,
  })
  for (let next = performance.now(); !signal.aborted; next += EVERY_MS) {
    const began = performance.now()
    const leases = await store.claim(request)
    times.push(performance.now() - began)
    if (leases.length < CLAIMED) throw new Error('too few jobs: the claims have emptied the queue')
    const done = { transition: { to: 'done', result: null }, outcome: 'returned', ranMs: 0 } as const
    await store.finish(leases.map(({ id, token }) => ({ id, token, ...done })))
    await sleep(Math.max(0, next + EVERY_MS - performance.now()))
  }
  return times
}

interface Period<T> {
  readonly result: T
  readonly seconds: number
  /** The latency of each claim, in ms. */
  readonly times: readonly number[]
  /** CPU time of client and server, in µs. */
  readonly cpu: number
  /** Cores that other programs used. */
  readonly noise: number
}

async function during<T>(store: FullStore, instance: string, start: () => Promise<T>): Promise<Period<T>> {
  const over = new AbortController()
  const noise = noiseMeter()
  const cpu = cpuOfTree(process.pid)
  const began = performance.now()
  const claiming = claims(store, instance, over.signal)
  const result = await start()
  const seconds = (performance.now() - began) / 1_000
  over.abort()
  const times = await claiming
  return { result, seconds, times, cpu: cpuOfTree(process.pid) - cpu, noise: noise() }
}

function percentile(times: readonly number[], share: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? Number.NaN
}

const median = (numbers: readonly number[]): number => percentile(numbers, 0.5)

const rates: number[] = []
const ratios: number[] = []
try {
  const store = postgres(server.url, { notifier: false })
  await store.open()
  const mill = jobmill({
    store: postgres(server.url, { notifier: false }),
    log: 'silent',
  })
  await mill.open()
  await store.enqueue(someJobs([{ kind: 'work', queue: 'work' }]))
  await store.enqueue(someJobs([{ kind: 'work', queue: 'old', delay: '1h' }]))
  await mill.changeQueue('work', { retain: { done: 'forever' } })
  await mill.changeQueue('old', { retain: { done: '1s' } })
  const instance = anInstance({ queues: ['work'], kinds: ['work'], leaseMs: 3_600_000 })
  await store.instances.register(instance)
  console.log(
    '| deleted /s | cpu, µs/deleted job | claim, ms: quiet p50, p95 | with retention p50, p95 | p50 ratio | noise, cores |',
  )
  console.log('|---|---|---|---|---|---|')
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (let at = 0; at < READY; at += BULK)
      await store.enqueue(someJobs(Array.from({ length: BULK }, () => ({ kind: 'work', queue: 'work' }))))
    await fillEnded(round)
    await during(store, instance.id, () => sleep(500))
    const quiet = await during(store, instance.id, () => sleep(QUIET_MS))
    const busy = await during(store, instance.id, () => mill.retain())
    const deleted = busy.result['jobs'] ?? 0
    if (deleted !== JOBS) throw new Error(`${deleted} of ${JOBS} jobs were deleted`)
    const ratio = median(busy.times) / median(quiet.times)
    rates.push(Math.round(deleted / busy.seconds))
    ratios.push(ratio)
    // Without what the claims of the pass cost.
    const cpu = (busy.cpu - (quiet.cpu / quiet.times.length) * busy.times.length) / deleted
    const shown = ({ times }: Period<unknown>): string =>
      `${median(times).toFixed(2)}, ${percentile(times, 0.95).toFixed(2)}`
    const noise = Math.max(quiet.noise, busy.noise).toFixed(2)
    console.log(
      `| ${rates.at(-1)} | ${cpu.toFixed(1)} | ${shown(quiet)} | ${shown(busy)} | ${ratio.toFixed(2)} | ${noise} |`,
    )
  }
  await mill.stop()
  await store.close()
} finally {
  await server.stop()
}
const isMet = median(rates) >= TARGET_RATE && median(ratios) <= TARGET_RATIO
console.log(
  `${isMet ? 'met' : 'missed'}: ${median(rates)} deleted jobs/s (at least ${TARGET_RATE}), claims × ${median(ratios).toFixed(2)} (at most ${TARGET_RATIO})`,
)
if (!isMet) process.exitCode = 1
