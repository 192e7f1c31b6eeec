// i: a drain while a transaction elsewhere holds an old view of the database, so that nothing of what is deleted or
// overwritten can be cleaned up: on PostgreSQL it pins xmin, on SQLite a reader keeps the write-ahead log from beginning
// anew. `i-unpinned` is the same without, in a cell of its own.
//
// The figure `i` is what counts: on PostgreSQL the rate of the last 20,000 jobs, since what cannot be cleaned up slows
// down more and more; on SQLite the rate of the whole drain. `i-wal` is the size of SQLite's log after the reader's end.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Case, Cell, Figure } from '../case.ts'
import { drainFigures, fillApart } from './drain.ts'
import { paceFigures, pacedDrain, type PacedDrain } from './backlog.ts'

const MB = 1_000_000
/** How long the log may take to become small again, and how small. */
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
    // The queue still works, with nothing to do: whatever keeps the log small has to do so now.
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

/** Begins the transaction; the answer ends it. */
function pin(cell: Cell): Promise<() => Promise<void>> {
  return cell.place.store === 'sqlite' ? pinSqlite(cell) : pinPostgres(cell)
}

async function pinPostgres(cell: Cell): Promise<() => Promise<void>> {
  const client = await cell.admin()
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  // A snapshot, and a transaction id of its own.
  await client.query('SELECT txid_current()')
  return async () => void (await client.query('ROLLBACK'))
}

async function pinSqlite(cell: Cell): Promise<() => Promise<void>> {
  const program = fileURLToPath(new URL('../long-reader.ts', import.meta.url))
  const reader = fork(program, [cell.place.url])
  const ended = once(reader, 'exit')
  await Promise.race([once(reader, 'message'), ended])
  if (reader.exitCode !== null) throw new Error('the long reader could not start')
  return async () => {
    reader.disconnect()
    await ended
  }
}

/** How large the log was when the reader ended, how large it is when it has become small, or at the end of its time, and after how long. */
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
