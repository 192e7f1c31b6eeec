// Case i: a drain while another transaction holds an old snapshot, so that no dead row can be cleaned up. On
// PostgreSQL it pins xmin; on SQLite a reader keeps the write-ahead log from being reset. `i-unpinned` is the
// same drain without that transaction, in its own cell.
//
// On PostgreSQL `i` is the rate of the last 20,000 jobs, since dead rows slow a drain down more and more. On
// SQLite it is the rate of the whole drain, and `i-wal` is the size of the log after the reader has ended.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Case, Cell, Figure } from '../case.ts'
import { drainFigures, fillApart } from './drain.ts'
import { paceFigures, pacedDrain, type PacedDrain } from './backlog.ts'

const MB = 1_000_000
/** How long the log may take to shrink, and to what size. */
const SHRINKS_WITHIN_MS = 10_000
const SMALL_MB = 64

export const pinnedCase: Case = {
  names: ['i', 'i-unpinned'],
  async run(cell) {
    await fillApart(cell)
    const release = cell.case === 'i' ? await pin(cell) : undefined
    const queue = await cell.open()
    const drained = await pacedDrain(cell, queue)
    await release?.()
    // The queue is idle now. The system must shrink its log in this time.
    const log = cell.place.store === 'sqlite' && release !== undefined ? await logFigures(cell) : []
    await queue.stop()
    drained.check()
    return [...figuresOf(cell, drained), ...log]
  },
}

function figuresOf(cell: Cell, drained: PacedDrain): Figure[] {
  const [whole, ...costs] = drainFigures(cell.case, cell.jobs, drained.usage)
  const overall = whole?.value ?? Number.NaN
  return [
    { case: cell.case, unit: 'jobs/s', value: cell.place.store === 'sqlite' ? overall : drained.last },
    { case: `${cell.case}-overall`, unit: 'jobs/s', value: overall },
    ...costs,
    ...paceFigures(cell.case, drained),
  ]
}

/** Starts the transaction and returns a function that ends it. */
function pin(cell: Cell): Promise<() => Promise<void>> {
  return cell.place.store === 'sqlite' ? pinSqlite(cell) : pinPostgres(cell)
}

async function pinPostgres(cell: Cell): Promise<() => Promise<void>> {
  const client = await cell.admin()
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  // Take a snapshot, and a transaction id of its own.
  await client.query('SELECT txid_current()')
  return async () => void (await client.query('ROLLBACK'))
}

async function pinSqlite(cell: Cell): Promise<() => Promise<void>> {
  const program = fileURLToPath(new URL('../cell/long-reader.ts', import.meta.url))
  const reader = fork(program, [cell.place.url])
  const ended = once(reader, 'exit')
  await Promise.race([once(reader, 'message'), ended])
  if (reader.exitCode !== null) throw new Error('the long reader could not start')
  return async () => {
    reader.disconnect()
    await ended
  }
}

/**
 * The size of the log when the reader ended, its size after it shrank or the time was up, and how long that
 * took.
 */
async function logFigures(cell: Cell): Promise<Figure[]> {
  const size = (): number => statSync(`${cell.place.url}-wal`).size / MB
  const before = size()
  const began = performance.now()
  while (size() >= SMALL_MB && performance.now() - began < SHRINKS_WITHIN_MS) await sleep(50)
  return [
    { case: 'i-wal', unit: 'MB', value: size() },
    { case: 'i-wal-before', unit: 'MB', value: before },
    { case: 'i-wal-after', unit: 's', value: (performance.now() - began) / 1_000 },
  ]
}
