/**
 * Ready jobs by (queue, kind): the lanes that claims and lists merge. The ready kinds of a queue are found by
 * skipping from kind to kind in the index, so a million jobs of a kind without a worker here cost one step.
 */
import type { Sql, Value } from '../connection/handle.ts'
import type { Lane } from './lanes.ts'

/** A place in a lane. */
interface Place {
  readonly priority: number
  readonly seq: number
}

/** Quarantined jobs have their own index, so that claims never have to skip them. */
export type ReadyIndex = 'ready' | 'quarantined'

// Literals, because SQLite uses a partial index only where its condition is repeated.
const WHERE = {
  ready: 'INDEXED BY jobmill_job_ready WHERE state = 1 AND crashes < 2',
  quarantined: 'INDEXED BY jobmill_job_quarantined WHERE state = 1 AND crashes >= 2',
}
const nextKind = (index: ReadyIndex): string =>
  `SELECT kind_id FROM jobmill_job ${WHERE[index]} AND queue_id = ? AND kind_id > ? ORDER BY kind_id LIMIT 1`
const nextPriority = (index: ReadyIndex): string =>
  `SELECT priority, ready_at FROM jobmill_job ${WHERE[index]} AND queue_id = ? AND kind_id = ? AND priority > ?
   ORDER BY priority, seq LIMIT 1`
const rowsAfter = (index: ReadyIndex, columns: string): string =>
  `SELECT ${columns} FROM jobmill_job AS j ${WHERE[index]} AND queue_id = ? AND kind_id = ? AND (priority, seq) > (?, ?)
   ORDER BY priority, seq LIMIT ?`

const countUpTo = (index: ReadyIndex): string =>
  `SELECT count(*) AS n FROM (SELECT 1 FROM jobmill_job ${WHERE[index]} AND queue_id = ? AND kind_id = ? AND (priority, seq) >= (?, ?)
   AND (priority, seq) < (?, ?) LIMIT ?)`

const COUNT_BEFORE = { ready: countUpTo('ready'), quarantined: countUpTo('quarantined') }
const NEXT_KIND = { ready: nextKind('ready'), quarantined: nextKind('quarantined') }
const NEXT_PRIORITY = { ready: nextPriority('ready'), quarantined: nextPriority('quarantined') }

/** Below and above every valid priority. */
const LOWEST = -1_000_000
const HIGHEST = 1_000_000

/** The lanes of a queue that have ready jobs. */
export function* readyLanes(sql: Sql, queueId: number): Generator<{ index: ReadyIndex; kindId: number }> {
  for (const index of ['ready', 'quarantined'] as const)
    for (const kindId of readyKinds(sql, index, queueId)) yield { index, kindId }
}

/** The kinds that have ready jobs in a queue. */
export function* readyKinds(sql: Sql, index: ReadyIndex, queueId: number): Generator<number> {
  const statement = sql(NEXT_KIND[index])
  let kindId = -1
  for (;;) {
    const row = statement.get(queueId, kindId) as { kind_id: number } | undefined
    if (row === undefined) return
    kindId = row.kind_id
    yield kindId
  }
}

/** How many ready jobs of a kind a queue has, counted up to `most`. */
export function countReady(sql: Sql, queueId: number, kindId: number, most: number): number {
  const end = { queueId, kindId, priority: HIGHEST, seq: 0 }
  const count = (index: ReadyIndex): number => countBefore(sql, index, end, most)
  return Math.min(most, count('ready') + count('quarantined'))
}

/**
 * How many jobs of a lane are from the place `first` (default: the start) to a place, counted up to
 * `most`.
 */
export function countBefore(
  sql: Sql,
  index: ReadyIndex,
  { queueId, kindId, priority, seq }: Place & { readonly queueId: number; readonly kindId: number },
  most: number,
  first: Place = { priority: LOWEST, seq: 0 },
): number {
  const from = [first.priority, first.seq] as const
  return (sql(COUNT_BEFORE[index]).get(queueId, kindId, ...from, priority, seq, most) as { n: number }).n
}

/** `columns` must contain priority and seq; `values` fill its placeholders. */
export function readyLaneReader(
  sql: Sql,
  index: ReadyIndex,
  columns: string,
  values: readonly Value[] = [],
): <Row extends { priority: number; seq: number }>(
  queueId: number,
  kindId: number,
  first?: Place,
) => Lane<Row> {
  const statement = sql(rowsAfter(index, columns))
  return <Row extends { priority: number; seq: number }>(
    queueId: number,
    kindId: number,
    first: Place = { priority: LOWEST, seq: 0 },
  ): Lane<Row> => ({
    fetch(after, rows) {
      const { priority, seq } = after ?? first
      return statement.all(...values, queueId, kindId, priority, seq, rows) as Row[]
    },
  })
}

/**
 * The best (lowest) priority of the ready jobs of a queue, including quarantined ones; infinity when there
 * are none.
 */
export function bestReadyPriority(sql: Sql, queueId: number): number {
  let best = Number.POSITIVE_INFINITY
  for (const { index, kindId } of readyLanes(sql, queueId)) {
    const first = sql(NEXT_PRIORITY[index]).get(queueId, kindId, LOWEST) as { priority: number } | undefined
    best = Math.min(best, first?.priority ?? best)
  }
  return best
}

/** The earliest `ready_at` of a queue. Compares the rows with the lowest `seq` of each kind and priority. */
export function oldestReadyAt(sql: Sql, queueId: number): number | null {
  let oldest: number | null = null
  for (const { index, kindId } of readyLanes(sql, queueId)) {
    let priority = LOWEST
    for (;;) {
      const row = sql(NEXT_PRIORITY[index]).get(queueId, kindId, priority) as
        | { priority: number; ready_at: number }
        | undefined
      if (row === undefined) break
      priority = row.priority
      oldest = oldest === null ? row.ready_at : Math.min(oldest, row.ready_at)
    }
  }
  return oldest
}
