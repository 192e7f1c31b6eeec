/**
 * `npm run prove:transfer`: transfers 100,000 mixed jobs from a SQLite file to PostgreSQL, with a kill -9
 * halfway, and back into another file. Prints counts, checksums and times; fails if anything differs.
 */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { postgres } from 'jobmill/postgres'
import { guard } from '../../test/support/programs/guardian.ts'
import { startPostgres } from '../../test/support/postgres/postgres-server.ts'
import { closers, interrupted } from '../closing.ts'
import { move, type TransferReport } from './command.ts'
import { fill } from './fill.ts'

const { values } = parseArgs({ options: { jobs: { type: 'string', default: '100000' } } })
const JOBS = Number(values.jobs)

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now()
  const result = await work()
  console.log(`${what.padEnd(52)} ${((performance.now() - began) / 1_000).toFixed(1)} s`)
  return result
}

async function jobsAt(url: string): Promise<number> {
  const store = postgres(url, { notifier: false })
  await store.open()
  const counts = await store.counts()
  await store.close()
  return counts.reduce(
    (sum, { ready, scheduled, done, dead, cancelled }) => sum + ready + scheduled + done + dead + cancelled,
    0,
  )
}

/** Returns the number of jobs at the target when it was killed. */
async function killHalfWay(from: string, to: string): Promise<number> {
  const { kill, ended } = move(from, to)
  const isOver = ended.then(() => true)
  while ((await jobsAt(to)) < JOBS / 2) if (await Promise.race([isOver, sleep(20, false)])) break
  kill()
  if ((await ended) !== null) throw new Error('it had ended before it could be killed: ask for more --jobs')
  return jobsAt(to)
}

async function finished(from: string, to: string): Promise<TransferReport> {
  const result = await move(from, to).ended
  if (result === null || !result.verified)
    throw new Error(`not verified: ${result?.differences.join('; ') ?? 'it was killed'}`)
  return result
}

function report(what: string, { counts, checksums, carried, there }: TransferReport): void {
  console.log(`\n${what}: ${carried} moved, ${there} were there already`)
  console.table(counts)
  for (const [sort, source] of Object.entries(checksums.source)) {
    const target = checksums.target[sort]
    const isSame =
      target?.checksum === source.checksum ? 'the same at both' : `and ${target?.checksum} at the target`
    console.log(`${sort.padEnd(9)} ${String(source.items).padStart(7)}  ${source.checksum}  ${isSame}`)
  }
}

async function prove(folder: string, url: string): Promise<void> {
  const [first, last] = ['first.db', 'last.db'].map((name) => path.join(folder, name)) as [string, string]
  await timed(`${JOBS} mixed jobs into a SQLite file`, () => fill(first, JOBS))
  const there = await timed('moved to PostgreSQL, killed with -9 half-way', () => killHalfWay(first, url))
  console.log(`  ${there} of ${JOBS} were there`)
  const to = await timed('moved to PostgreSQL, started again, verified', () => finished(first, url))
  const back = await timed('moved back into another file, verified', () => finished(url, last))
  report('to PostgreSQL', to)
  report('and back', back)
  if (JSON.stringify(back.checksums.target) !== JSON.stringify(to.checksums.source))
    throw new Error('the data changed on the way')
  console.log('\nthe data is unchanged after the round trip')
}

const { add, close } = closers('transfer')
const folder = mkdtempSync(path.join(tmpdir(), 'jobmill-move-'))
// Removes the folder however this process ends, kill -9 included.
const guardian = guard(folder, path.join(folder, 'no-server'))
add(() => guardian.release())
try {
  const server = await startPostgres({ binaries: 'current' })
  add(() => server.stop())
  await Promise.race([prove(folder, server.url), interrupted(new AbortController())])
  process.exitCode = 0
} catch (error) {
  console.error(`move: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
} finally {
  await close()
}
process.exit()
