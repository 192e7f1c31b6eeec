/**
 * What the stores reach through the contract alone, without a runtime: bulk enqueue, drain, and the same with 2 KB payloads
 * and partial finishes. Both stores in one run, interleaved, median of the rounds; full durability, history and results kept.
 *
 *   npm run bench:contract -- [--jobs 100000] [--rounds 3]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import type { NewJob, Store } from 'jobmill'
import { postgres } from 'jobmill/postgres'
import { sqlite } from 'jobmill/sqlite'
import { aJob, anInstance } from 'jobmill/testing'
import { startPostgres } from '../test/support/postgres-server.ts'

const { values } = parseArgs({
  options: { jobs: { type: 'string', default: '100000' }, rounds: { type: 'string', default: '3' } },
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

async function enqueueAll(store: Store, jobs: readonly NewJob[]): Promise<number> {
  const began = performance.now()
  const calls: Promise<unknown>[] = []
  for (let at = 0; at < jobs.length; at += BULK) {
    calls.push(store.enqueue(jobs.slice(at, at + BULK)))
    if (calls.length === 2) await Promise.all(calls.splice(0))
  }
  await Promise.all(calls)
  return rate(jobs.length, began)
}

/** Two loops, as a runtime would keep one claim on its way while it writes finishes. */
async function drain(store: Store, count: number, finishSize: number): Promise<number> {
  const instance = anInstance({ queues: ['default'], kinds: ['bench'], leaseMs: 600_000 })
  await store.register(instance)
  const ids = new Set<string>()
  const began = performance.now()
  const loop = async (): Promise<void> => {
    for (;;) {
      const leases = await store.claim({
        instance: instance.id,
        queues: [{ queue: 'default', room: 500 }],
        kinds: ['bench'],
        limit: 500,
        suspects: 'skip',
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
  await store.deregister(instance.id)
  return reached
}

function rate(count: number, began: number): number {
  return Math.round((count / (performance.now() - began)) * 1_000)
}

function median(figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN
}

const folder = mkdtempSync(path.join(tmpdir(), 'jobmill-bench-'))
const server = await startPostgres({ binaries: 'current', settings: { fsync: 'on' } })
try {
  const table: string[] = ['| store | case | enqueue /s | drain /s |', '|---|---|---|---|']
  for (const { name, payload, finish } of CASES) {
    const figures = {
      sqlite: { enqueue: [] as number[], drain: [] as number[] },
      postgres: { enqueue: [] as number[], drain: [] as number[] },
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const which of ['sqlite', 'postgres'] as const) {
        const store: Store =
          which === 'sqlite'
            ? sqlite(path.join(folder, `${name}-${round}.db`))
            : postgres(server.url, {
                schema: `bench_${CASES.findIndex((one) => one.name === name)}_${round}`,
              })
        await store.open()
        const jobs = Array.from({ length: JOBS }, () => aJob({ kind: 'bench', payload }))
        figures[which].enqueue.push(await enqueueAll(store, jobs))
        figures[which].drain.push(await drain(store, JOBS, finish))
        await store.close()
      }
    }
    for (const which of ['sqlite', 'postgres'] as const) {
      const line = `| ${which} | ${name} | ${median(figures[which].enqueue)} | ${median(figures[which].drain)} |`
      table.push(line)
      console.error(line)
    }
  }
  console.log(table.join('\n'))
} finally {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
