// Case k: shows in minutes what hours of work leave behind. One process enqueues with 64 calls in flight and
// works as fast as it can, for a given time. Nothing is kept of finished jobs, so table growth is what the
// system could not clean up in time.
//
// `k-kept` keeps everything at a steady rate, because at full speed it would fill the disk. `k` is the rate
// in the last tenth of the time, `k-first` in the first tenth.
import { existsSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Case, Cell, Figure } from '../case.ts'
import { measureUsage } from '../measure/usage.ts'
import type { Queue } from '../system.ts'

const IN_FLIGHT = 64
/**
 * The producer pauses at the upper bound and resumes at the lower one: this case is about churn, not about a
 * backlog.
 */
const MOST_WAITING = 2_000
const FEW_WAITING = 1_000
/** Jobs per second. */
const STEADY_RATE = 2_000
const MB = 1_000_000
/** A PostgreSQL session reports dead rows when it is idle, at most once a second. */
const STATISTICS_LAG_MS = 1_500

export const growthCase: Case = {
  names: ['k', 'k-kept'],
  async run(cell) {
    const keep = cell.case === 'k-kept'
    const queue = await cell.open({ keep })
    const end = await measureUsage(cell)
    const { jobs, tenths, check } = await churn(queue, cell.seconds, keep ? STEADY_RATE : Infinity)
    const usage = await end()
    const left = await leftovers(cell)
    await queue.stop()
    check()
    const perSecond = (tenth: number): number => (tenths[tenth] ?? 0) / (cell.seconds / 10)
    const wal = usage.wal === undefined ? [] : [{ name: 'wal', unit: 'bytes/job', value: usage.wal / jobs }]
    const figures = [
      { name: 'first', unit: 'jobs/s', value: perSecond(0) },
      { name: 'cpu', unit: 'µs/job', value: (usage.client + usage.server) / jobs },
      { name: 'jobs', unit: 'jobs', value: jobs },
      ...wal,
      ...left,
    ]
    return [
      { case: cell.case, unit: 'jobs/s', value: perSecond(9) },
      ...figures.map(({ name, unit, value }): Figure => ({ case: `${cell.case}-${name}`, unit, value })),
    ]
  },
}

/** A figure whose name still needs the name of the case in front. */
interface Part {
  readonly name: string
  readonly unit: string
  readonly value: number
}

interface Churned {
  readonly jobs: number
  /** Jobs that ran in each tenth of the time. */
  readonly tenths: readonly number[]
  /** Throws when a job is missing or ran twice. Call it after the stop. */
  readonly check: () => void
}

async function churn(queue: Queue, seconds: number, mostPerSecond: number): Promise<Churned> {
  const tenths = Array.from({ length: 10 }, () => 0)
  const runs = runCounter()
  const waiters: (() => void)[] = []
  let enqueued = 0
  let began = 0
  const elapsed = (): number => (performance.now() - began) / 1_000 / seconds
  const waiting = (): number => enqueued - runs.count()
  await queue.work((n) => {
    runs.add(n)
    const tenth = Math.floor(elapsed() * 10)
    if (tenth < 10) tenths[tenth] = (tenths[tenth] ?? 0) + 1
    // Runs wake the producer instead of a timer: a system that never idles would not let a timer fire.
    if (waiters.length > 0 && waiting() <= FEW_WAITING) for (const go of waiters.splice(0)) go()
  })
  began = performance.now()
  const fewWait = (): Promise<void> => new Promise((resolve) => void waiters.push(resolve))
  const lane = async (): Promise<void> => {
    while (elapsed() < 1) {
      if (waiting() > MOST_WAITING) await fewWait()
      while (enqueued > elapsed() * seconds * mostPerSecond) await sleep(1)
      await queue.enqueue(enqueued++)
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane))
  while (waiting() > 0) await fewWait()
  await queue.settled?.()
  return { jobs: enqueued, tenths, check: () => runs.check(enqueued) }
}

/** Counts how often each job ran when the number of jobs is not known in advance. */
function runCounter(): { add(n: number): void; count(): number; check(jobs: number): void } {
  let times = new Uint8Array(1_000_000)
  let count = 0
  return {
    count: () => count,
    add(n) {
      if (n >= times.length) {
        const longer = new Uint8Array(times.length * 2)
        longer.set(times)
        times = longer
      }
      times[n] = Math.min((times[n] ?? 0) + 1, 255)
      count += 1
    },
    check(jobs) {
      const wrong = times.subarray(0, jobs).filter((runs) => runs !== 1).length
      if (wrong > 0 || count !== jobs) {
        throw new Error(`delivery is not exact: ${jobs} jobs, ${count} runs, ${wrong} missing or run twice`)
      }
    },
  }
}

/** Measures disk usage at the end. */
function leftovers(cell: Cell): Promise<Part[]> {
  if (cell.place.store === 'sqlite') return Promise.resolve(filesOf(cell.place.url))
  return cell.place.store === 'postgres' ? tablesOf(cell) : Promise.resolve([])
}

function filesOf(file: string): Part[] {
  return [
    { name: 'size', unit: 'MB', value: sizeOf(file) },
    { name: 'wal-size', unit: 'MB', value: sizeOf(`${file}-wal`) },
  ]
}

function sizeOf(file: string): number {
  return existsSync(file) ? statSync(file).size / MB : 0
}

// The system is the only user of the database, so count all tables, each with its TOAST table and indexes.
const TABLES = `
  SELECT sum(pg_total_relation_size(relid)) / ${MB} AS size, sum(pg_indexes_size(relid)) / ${MB} AS indexes,
    sum(n_live_tup) AS live, sum(n_dead_tup) AS dead
  FROM pg_stat_user_tables`
const TABLE_UNITS = { size: 'MB', indexes: 'MB', live: 'rows', dead: 'rows' }

async function tablesOf(cell: Cell): Promise<Part[]> {
  const client = await cell.admin()
  await sleep(STATISTICS_LAG_MS)
  const { rows } = await client.query<Record<string, string>>(TABLES)
  const log = await client.query<{ size: string }>(`SELECT sum(size) / ${MB} AS size FROM pg_ls_waldir()`)
  return [
    ...Object.entries(TABLE_UNITS).map(([name, unit]) => ({ name, unit, value: Number(rows[0]?.[name]) })),
    { name: 'wal-size', unit: 'MB', value: Number(log.rows[0]?.size) },
  ]
}
