/**
 * Measures the CPU time of the PostgreSQL server for claims and finishes through the store contract, by how
 * many jobs a call has. Each variant has one session, and the variants take turns with every call, so that
 * other load on the machine affects all of them. Autovacuum is off. The result is the median of the rounds.
 *
 *   npm run bench:claims -- [--size 500,20,1] [--jobs 40000] [--rounds 5] [--batch-from 20,1000]
 *     [--function FILE,FILE]
 *
 * Progress is printed to standard error.
 *
 * `--batch-from` is an option of the store: from how many new jobs a claim writes one row for all of them.
 * `--function` also measures the store with functions that a file of SQL replaces.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import type { FullStore } from 'jobmill'
import { postgres } from 'jobmill/postgres'
import { aClaim, aJob, anInstance } from 'jobmill-conformance'
import { startPostgres } from '../../test/support/postgres/postgres-server.ts'
import { median } from '../report/figures.ts'

const { values: given } = parseArgs({
  options: {
    size: { type: 'string', default: '500,20,1' },
    jobs: { type: 'string', default: '40000' },
    rounds: { type: 'string', default: '5' },
    'batch-from': { type: 'string', default: '20' },
    function: { type: 'string', default: '' },
  },
})
const LEASE_MS = 3_600_000
const BULK = 1_000
const MIN_CALLS = 20
const MOST_CALLS = 1_000

interface Variant {
  readonly name: string
  readonly batchFrom: number
  /** SQL that replaces functions. */
  readonly functions: string
}
const FILES = given.function.split(',').filter((file) => file !== '')
const VARIANTS: readonly Variant[] = given['batch-from'].split(',').flatMap((batchFrom) => [
  { name: `batch from ${batchFrom}`, batchFrom: Number(batchFrom), functions: '' },
  ...FILES.map((file) => ({
    name: `batch from ${batchFrom}, ${path.basename(file, '.sql')}`,
    batchFrom: Number(batchFrom),
    functions: readFileSync(file, 'utf8'),
  })),
])

const server = await startPostgres({ binaries: 'current', settings: { fsync: 'on', autovacuum: 'off' } })
const admin = new pg.Client({ connectionString: server.url })
await admin.connect()

async function sessions(): Promise<readonly number[]> {
  const { rows } = await admin.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
  )
  return rows.map(({ pid }) => pid)
}

/** The time that a process ran, in µs. Unlike /proc/PID/stat, which counts ticks of 10 ms, it is exact. */
const cpuOf = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1_000

type Leases = Awaited<ReturnType<FullStore['claim']>>

interface Subject {
  readonly variant: Variant
  readonly schema: string
  readonly store: FullStore
  readonly instance: string
  /** The process of its session. */
  readonly pid: number
  readonly claims: Leases[]
}

let schemas = 0

async function prepare(variant: Variant, jobs: number): Promise<Subject> {
  schemas += 1
  const schema = `claims_${schemas}`
  const before = await sessions()
  const { batchFrom, functions } = variant
  const store: FullStore = postgres(server.url, { schema, batchFrom, connections: 1, notifier: false })
  await store.open()
  const [pid, ...more] = (await sessions()).filter((one) => !before.includes(one))
  if (pid === undefined || more.length > 0) throw new Error('a store has another number of sessions than one')
  if (functions !== '') await admin.query(functions.replaceAll('jobmill.', `${schema}.`))
  for (let at = 0; at < jobs; at += BULK)
    await store.enqueue(
      Array.from({ length: Math.min(BULK, jobs - at) }, () =>
        aJob({ kind: 'bench', payload: { to: 'ada@example.com' } }),
      ),
    )
  await admin.query(`VACUUM ANALYZE ${schema}.ready, ${schema}.job`)
  const me = anInstance({ queues: ['default'], kinds: ['bench'], leaseMs: LEASE_MS })
  await store.instances.register(me)
  return { variant, schema, store, instance: me.id, pid, claims: [] }
}

async function claim({ store, instance, claims }: Subject, size: number): Promise<void> {
  const queues = [{ queue: 'default', room: size }]
  const leases = await store.claim(aClaim(instance, { queues, kinds: ['bench'], limit: size }))
  if (leases.length !== size) throw new Error(`a claim of ${size} returned ${leases.length} jobs`)
  claims.push(leases)
}

async function finish({ store, claims }: Subject, at: number): Promise<void> {
  await store.finish(
    (claims[at] ?? []).map(({ id, token }) => ({
      id,
      token,
      outcome: 'returned',
      transition: { to: 'done', result: '{"ok":true}' },
      ranMs: 1,
    })),
  )
}

/** Calls each subject in turn, and returns the µs per job of each. The first calls plan the statements. */
async function costs(
  subjects: readonly Subject[],
  calls: { readonly from: number; readonly to: number; readonly size: number },
  call: (subject: Subject, at: number) => Promise<void>,
): Promise<readonly number[]> {
  const { from, to, size } = calls
  for (let at = 0; at < from; at += 1) for (const subject of subjects) await call(subject, at)
  const before = subjects.map(({ pid }) => cpuOf(pid))
  for (let at = from; at < to; at += 1) for (const subject of subjects) await call(subject, at)
  return subjects.map(({ pid }, n) => (cpuOf(pid) - (before[n] ?? 0)) / ((to - from) * size))
}

const WARM_UP = 10

async function measure(size: number, calls: number): Promise<readonly (readonly [number, number])[]> {
  const jobs = size * (WARM_UP + calls)
  const subjects: Subject[] = []
  for (const variant of VARIANTS) subjects.push(await prepare(variant, jobs))
  await admin.query('CHECKPOINT')
  const range = { from: WARM_UP, to: WARM_UP + calls, size }
  const claimed = await costs(subjects, range, (subject) => claim(subject, size))
  const finished = await costs(subjects, range, finish)
  for (const { store, schema } of subjects) {
    await store.close()
    await admin.query(`DROP SCHEMA ${schema} CASCADE`)
  }
  return claimed.map((cost, at) => [cost, finished[at] ?? Number.NaN])
}

try {
  console.log('CPU of the server per job in µs, and compared with the first variant: medians (each round)')
  for (const size of given.size.split(',').map(Number)) {
    const calls = Math.max(MIN_CALLS, Math.min(MOST_CALLS, Math.round(Number(given.jobs) / size)))
    const rounds: (readonly (readonly [number, number])[])[] = []
    for (let round = 1; round <= Number(given.rounds); round += 1) {
      const found = await measure(size, calls)
      rounds.push(found)
      const text = found.map(([one, two]) => `${one.toFixed(1)} + ${two.toFixed(1)}`).join(', ')
      console.error(`${size} at a time, round ${round}: ${text}`)
    }
    for (const [at, { name }] of VARIANTS.entries()) {
      const text = (part: 0 | 1): string => {
        const values = rounds.map((round) => round[at]?.[part] ?? Number.NaN)
        // Compared within each round, because the load of the machine changes between rounds.
        const times = rounds.map((round, n) => (values[n] ?? 0) / (round[0]?.[part] ?? 0))
        return `${median(values).toFixed(1)} × ${median(times).toFixed(3)} (${times.map((one) => one.toFixed(2)).join(' ')})`
      }
      console.log(`${String(size).padStart(4)}  ${name.padEnd(26)} claim ${text(0)}  finish ${text(1)}`)
    }
  }
} finally {
  await admin.end()
  await server.stop()
}
