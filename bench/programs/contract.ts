/**
 * Measures the stores through the store contract alone, without a runtime: bulk enqueue and drain, also with
 * 2 KB payloads and partial finishes. Both stores run interleaved; the result is the median of the rounds.
 * Durability is full, history and results are kept.
 *
 *   npm run bench:contract -- [--jobs 100000] [--rounds 3] [--store postgres] [--case 0]
 *     [--drop ready_id_key,running_instance]
 *
 * `--drop` removes indexes of the PostgreSQL schema first, to measure the cost of each.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import type { FullStore } from 'jobmill'
import type { NewJob } from 'jobmill/store'
import { postgres } from 'jobmill/postgres'
import { sqlite } from 'jobmill/sqlite'
import { aJob, anInstance } from 'jobmill-conformance'
import { startPostgres } from '../../test/support/postgres/postgres-server.ts'

const { values } = parseArgs({
  options: {
    jobs: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '3' },
    store: { type: 'string' },
    case: { type: 'string' },
    drop: { type: 'string', default: '' },
  },
})
const JOBS = Number(values.jobs)
const ROUNDS = Number(values.rounds)
const BULK = 1_000

interface Case {
  readonly name: string
  readonly payload: unknown
  /** How many leases one finish call ends. */
  readonly finish: number
}
const CASES: readonly Case[] = [
  { name: 'small payload, finish 500 at once', payload: { to: 'ada@example.com' }, finish: 500 },
  { name: 'small payload, finish 100 at once', payload: { to: 'ada@example.com' }, finish: 100 },
  { name: '2 KB payload, finish 500 at once', payload: { text: 'x'.repeat(2_000) }, finish: 500 },
]

async function enqueueAll(store: FullStore, jobs: readonly NewJob[]): Promise<number> {
  const began = performance.now()
  const calls: Promise<unknown>[] = []
  for (let at = 0; at < jobs.length; at += BULK) {
    calls.push(store.enqueue(jobs.slice(at, at + BULK)))
    if (calls.length === 2) await Promise.all(calls.splice(0))
  }
  await Promise.all(calls)
  return rate(jobs.length, began)
}

/** Two loops, because a runtime also has a claim in flight while it writes finishes. */
async function drain(store: FullStore, count: number, finishSize: number): Promise<number> {
  const instance = anInstance({ queues: ['default'], kinds: ['bench'], leaseMs: 600_000 })
  await store.instances.register(instance)
  const ids = new Set<string>()
  const began = performance.now()
  const loop = async (): Promise<void> => {
    for (;;) {
      const leases = await store.claim({
        instance: instance.id,
        queues: [{ queue: 'default', room: 500 }],
        kinds: ['bench'],
        limit: 500,
        quarantined: 'skip',
      })
      if (leases.length === 0) return
      for (let at = 0; at < leases.length; at += finishSize) {
        const items = leases.slice(at, at + finishSize).map(({ id, token }) => {
          ids.add(id)
          return {
            id,
            token,
            outcome: 'returned',
            transition: { to: 'done', result: '{"ok":true}' },
            ranMs: 0,
          } as const
        })
        await store.finish(items)
      }
    }
  }
  await Promise.all([loop(), loop()])
  const reached = rate(count, began)
  if (ids.size !== count) throw new Error(`${ids.size} of ${count} jobs were delivered`)
  await store.instances.deregister(instance.id)
  return reached
}

function rate(count: number, began: number): number {
  return Math.round((count / (performance.now() - began)) * 1_000)
}

function spread(figures: readonly number[]): string {
  const sorted = figures.toSorted((a, b) => a - b)
  const median = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  return `${median} (${sorted[0] ?? 0}–${sorted.at(-1) ?? 0})`
}

async function dropIndexes(schema: string): Promise<void> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  for (const index of values.drop.split(',').filter((name) => name !== '')) {
    const { rows } = await client.query<{ conrelid: string }>(
      `SELECT conrelid::regclass::text AS conrelid FROM pg_constraint WHERE conname = $1 AND connamespace = $2::regnamespace`,
      [index, schema],
    )
    const table = rows[0]?.conrelid
    await client.query(
      table === undefined ? `DROP INDEX ${schema}.${index}` : `ALTER TABLE ${table} DROP CONSTRAINT ${index}`,
    )
  }
  await client.end()
}

interface Figures {
  readonly enqueue: number[]
  readonly drain: number[]
}

async function measure(
  which: Which,
  number: number,
  round: number,
  { payload, finish }: Case,
  into: Figures,
): Promise<void> {
  const schema = `bench_${number}_${round}`
  const store: FullStore =
    which === 'sqlite' ? sqlite(path.join(folder, `${number}-${round}.db`)) : postgres(server.url, { schema })
  await store.open()
  if (which === 'postgres') await dropIndexes(schema)
  const jobs = Array.from({ length: JOBS }, () => aJob({ kind: 'bench', payload }))
  into.enqueue.push(await enqueueAll(store, jobs))
  into.drain.push(await drain(store, JOBS, finish))
  await store.close()
}

type Which = 'sqlite' | 'postgres'
const STORES = (['sqlite', 'postgres'] as const).filter(
  (which) => values.store === undefined || values.store === which,
)
const folder = mkdtempSync(path.join(tmpdir(), 'jobmill-bench-'))
const server = await startPostgres({ binaries: 'current', settings: { fsync: 'on' } })
try {
  console.log(
    '| store | case | enqueue /s, median (min–max) | drain /s, median (min–max) |\n|---|---|---|---|',
  )
  for (const [number, one] of CASES.entries()) {
    if (values.case !== undefined && Number(values.case) !== number) continue
    const figures = new Map<Which, Figures>(STORES.map((which) => [which, { enqueue: [], drain: [] }]))
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [which, into] of figures) await measure(which, number, round, one, into)
    }
    for (const [which, { enqueue, drain: drained }] of figures) {
      console.log(`| ${which} | ${one.name} | ${spread(enqueue)} | ${spread(drained)} |`)
    }
  }
} finally {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
