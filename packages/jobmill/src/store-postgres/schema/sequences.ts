/**
 * Raises sequences that are behind the tables with their numbers. Logical replication does not copy
 * sequences, so they restart after a switchover, and a restore of single tables leaves them behind too. They
 * would issue numbers again: the server would refuse rows as duplicates, and jobs would overtake others.
 */
import { type Query, recordsOf } from '../connection/connection.ts'
import { lockMigrations, type Target } from './migrate.ts'

interface Sequence {
  /** As in `pg_sequences`. */
  readonly name: string
  /** An expression for its regclass. */
  readonly at: string
  /** The columns that hold its numbers. */
  readonly columns: readonly (readonly [table: string, column: string])[]
  /**
   * A number close to the highest one, found through indexes. It decides whether the columns are read in
   * full. Default: the highest number of the only column, which is a primary key.
   */
  readonly recent?: string
  /** The highest of further numbers, which are not in a column of their own. */
  readonly also?: string
  /** The gap: more numbers than other processes can take from the sequence while it is raised. */
  readonly gap: number
}

/** The highest of the last numbers of each queue and priority. */
const LAST_READY = `(
  WITH RECURSIVE lane AS (
    (SELECT queue_id, priority FROM jobmill.ready ORDER BY queue_id, priority LIMIT 1)
    UNION ALL
    SELECT n.queue_id, n.priority FROM lane AS l CROSS JOIN LATERAL (
      SELECT r.queue_id, r.priority FROM jobmill.ready AS r
       WHERE (r.queue_id, r.priority) > (l.queue_id, l.priority) ORDER BY r.queue_id, r.priority LIMIT 1) AS n
  )
  SELECT max(n.seq) FROM lane AS l CROSS JOIN LATERAL (
    SELECT r.seq FROM jobmill.ready AS r WHERE r.queue_id = l.queue_id AND r.priority = l.priority
     ORDER BY r.seq DESC LIMIT 1) AS n)`
/** A job gets its sequence number when it becomes due. */
const LAST_ORDERED = `(SELECT max(o.pos) FROM (
  SELECT pos FROM jobmill.order_queue ORDER BY due_at DESC, id DESC LIMIT 100) AS o)`
/** A job of a batch keeps its number when it returns to its queue. */
const LAST_BATCHED = `(SELECT max(m.seq) FROM jobmill.batch AS b CROSS JOIN LATERAL unnest(b.seqs) AS m(seq))`
const highestOf = ([table, column]: readonly [string, string]): string =>
  `(SELECT max(${column}) FROM jobmill.${table})`

const GAP = 1_000_000
/** The gap for int4 columns. It can be small, because new names are rare. */
const SMALL_GAP = 1_000

/** The sequence of the ids of names. */
const ids = (table: string): Sequence => ({
  name: `${table}_ids`,
  at: `'jobmill.${table}_ids'::regclass`,
  columns: [[table, 'id']],
  gap: SMALL_GAP,
})

/** The sequence of an identity column. */
const identity = (table: string, column: string): Sequence => ({
  name: `${table}_${column}_seq`,
  at: `pg_get_serial_sequence('jobmill.${table}', '${column}')::regclass`,
  columns: [[table, column]],
  gap: GAP,
})

export const SEQUENCES: readonly Sequence[] = [
  {
    name: 'seq',
    at: `'jobmill.seq'::regclass`,
    columns: [
      ['ready', 'seq'],
      ['running', 'seq'],
      ['order_queue', 'pos'],
    ],
    recent: `greatest(${LAST_READY}, ${LAST_ORDERED}, ${highestOf(['running', 'seq'])}, ${LAST_BATCHED})`,
    also: LAST_BATCHED,
    gap: GAP,
  },
  ids('queue'),
  ids('kind'),
  identity('order_check', 'n'),
  identity('metric_delta', 'n'),
  identity('event', 'n'),
]

/** 0 for a sequence that has issued nothing. */
const issued = ({ at }: Sequence): string => `coalesce(pg_sequence_last_value(${at}), 0)`
const highest = ({ columns, also }: Sequence): string =>
  `greatest(${[...columns.map(highestOf), also ?? []].flat().join(', ')})`

const BEHIND = SEQUENCES.map(
  (one) => `
SELECT '${one.name}' AS name, ${issued(one)} AS issued, v.highest
  FROM (SELECT ${one.recent ?? highest(one)} AS highest) AS v WHERE v.highest > ${issued(one)}`,
).join(' UNION ALL ')

const raise = (one: Sequence): string => `
SELECT setval(${one.at}, v.highest + ${one.gap}) FROM (SELECT ${highest(one)} AS highest) AS v WHERE v.highest > ${issued(one)}`

interface SequenceBehind {
  readonly name: string
  readonly issued: number
  readonly highest: number
}

/** One statement, which reads indexes and small tables only. */
export async function sequencesBehind(query: Query, sql: Target['sql']): Promise<SequenceBehind[]> {
  return recordsOf(await query(sql(BEHIND), []))
}

/** One process at a time. Numbers that other processes take during it are within the gap. */
export async function raiseSequences({ connection, schema, sql }: Target): Promise<void> {
  const raised = await connection.transaction(async (query) => {
    await lockMigrations(query, schema)
    const names: string[] = []
    for (const one of SEQUENCES) if ((await query(sql(raise(one)), [])).length > 0) names.push(one.name)
    return names
  })
  if (raised.length === 0) return
  process.emitWarning(`sequences were behind their tables and were raised: ${raised.join(', ')}`, {
    type: 'JobmillWarning',
    code: 'SEQUENCES_RAISED',
  })
}

export async function raiseIfBehind(target: Target): Promise<void> {
  const behind = await sequencesBehind(target.connection.query, target.sql)
  if (behind.length > 0) await raiseSequences(target)
}
