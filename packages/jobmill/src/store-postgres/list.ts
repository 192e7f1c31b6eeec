/**
 * Lists. Each listing walks the index of its own order from the cursor on, a bounded number of rows at a time; what the
 * index cannot decide is decided row by row inside that bound.
 */
import { type JobState, STATE_CODE } from '../job/state.ts'
import { UUID } from '../job/names.ts'
import {
  type Chunk,
  cursorInvalid,
  type JobFilter,
  type JobPage,
  listWithinBudget,
  type PageRequest,
  type Position,
} from '../store/job-list.ts'
import type { Query } from './connection.ts'
import type { Context } from './context.ts'
import { learnNames, SUMMARY_COLUMNS, SUMMARY_JOINS, summaryOf } from './job-rows.ts'

/** The rows to look at, in order: `walk(id, a, b)` with the position in one or two columns. */
interface Walk {
  readonly sql: string
  readonly order: string
  readonly width: 1 | 2
}

/** Collects parameters and gives back their places. */
interface Values {
  add(value: unknown): string
}

export function list(context: Context, filter: JobFilter, page: PageRequest): Promise<JobPage> {
  return listWithinBudget(context.platform, filter, page, (from, rows) =>
    readChunk(context, context.connection.query, filter, from, rows),
  )
}

async function readChunk(
  context: Context,
  query: Query,
  filter: JobFilter,
  from: Position | null,
  rows: number,
): Promise<Chunk> {
  const { text, values, width } = listStatement(filter, from, rows)
  const found = await query(context.sql(text), values)
  const last = found.at(-1)
  const matches = found.filter((row) => row['matches'] === true)
  await learnNames(context.names, matches)
  const position = (row: Readonly<Record<string, unknown>>): Position =>
    [row['a'], row['b']].slice(0, width) as (number | string)[]
  const scanned = Number(last?.['scanned'] ?? 0)
  return {
    jobs: matches.map((row) => ({ job: summaryOf(context.names, row), position: position(row) })),
    scanned,
    last: last === undefined ? null : position(last),
    end: scanned < rows,
  }
}

/** Rows that match, and the last row looked at whether it matches or not. */
function listStatement(
  filter: JobFilter,
  from: Position | null,
  rows: number,
): { text: string; values: unknown[]; width: 1 | 2 } {
  const values: unknown[] = []
  const given: Values = { add: (value) => `$${values.push(value)}` }
  const { sql, order, width } = walkOf(filter, from, rows, given)
  const text = `
SELECT * FROM (
  SELECT ${SUMMARY_COLUMNS}, w.a, w.b, (${matches(filter, given)}) AS matches, count(*) OVER () AS scanned, w.n
    FROM (SELECT walk.*, row_number() OVER (ORDER BY ${order}) AS n FROM (${sql}) AS walk) AS w
    ${SUMMARY_JOINS}) AS found
 WHERE matches OR n = scanned
 ORDER BY n`
  return { text, values, width }
}

/** What a cursor holds came back from outside: it must not reach the server as something that it is not. */
function checkPosition(filter: JobFilter, from: Position): void {
  const isNumber = (part: unknown): boolean => typeof part === 'number'
  const isId = (part: unknown): boolean => typeof part === 'string' && UUID.test(part)
  const shape =
    filter.state === undefined ? [isId] : filter.state === 'ready' ? [isNumber, isNumber] : [isNumber, isId]
  const fits = from.length === shape.length && shape.every((isIt, at) => isIt(from[at]))
  if (!fits) throw cursorInvalid(from)
}

function walkOf(filter: JobFilter, from: Position | null, rows: number, given: Values): Walk {
  if (from !== null) checkPosition(filter, from)
  switch (filter.state) {
    case undefined:
      return walkAll(filter, from, rows, given)
    case 'scheduled':
      return walkScheduled(from, rows, given)
    case 'ready':
      return walkReady(filter, from, rows, given)
    case 'running':
      return walkRunning(from, rows, given)
    default:
      return walkEnded(filter, filter.state, from, rows, given)
  }
}

/** Newest id first, by the primary key of the job; with a tag by the index of tags. */
function walkAll(filter: JobFilter, from: Position | null, rows: number, given: Values): Walk {
  const tag = filter.tags?.[0]
  const [table, id] = tag === undefined ? ['job', 'id'] : ['job_tag', 'job_id']
  const conditions = [
    ...(tag === undefined ? [] : [`tag = ${given.add(tag)}`]),
    ...(from === null ? [] : [`${id} < ${given.add(from[0])}::uuid`]),
  ]
  return {
    sql: `SELECT ${id} AS id, ${id}::text AS a, NULL::text AS b FROM jobmill.${table}
           ${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`} ORDER BY ${id} DESC LIMIT ${rows}`,
    order: 'walk.id DESC',
    width: 1,
  }
}

/** Soonest due first: later and line, each by its index on the due time. */
function walkScheduled(from: Position | null, rows: number, given: Values): Walk {
  const after =
    from === null ? '' : `WHERE (due_at, id) > (${given.add(from[0])}::int8, ${given.add(from[1])}::uuid)`
  const one = (table: string): string =>
    `(SELECT id, due_at FROM jobmill.${table} ${after} ORDER BY due_at, id LIMIT ${rows})`
  return {
    sql: `SELECT s.id, s.due_at AS a, s.id::text AS b FROM (${one('later')} UNION ALL ${one('line')}) AS s
           ORDER BY s.due_at, s.id LIMIT ${rows}`,
    order: 'walk.a, walk.id',
    width: 2,
  }
}

/** As they will be claimed: per queue by the primary key of ready. */
function walkReady(filter: JobFilter, from: Position | null, rows: number, given: Values): Walk {
  const after =
    from === null
      ? ''
      : `AND (r.priority, r.seq) > (${given.add(from[0])}::int2, ${given.add(from[1])}::int8)`
  return {
    sql: `SELECT r.id, r.priority AS a, r.seq AS b FROM jobmill.queue AS q CROSS JOIN LATERAL (
            SELECT r.id, r.priority, r.seq FROM jobmill.ready AS r WHERE r.queue_id = q.id ${after}
             ORDER BY r.priority, r.seq LIMIT ${rows}) AS r
           ${ofQueue(filter, given)} ORDER BY r.priority, r.seq LIMIT ${rows}`,
    order: 'walk.a, walk.b',
    width: 2,
  }
}

/** Longest running first. The table holds no more than the instances can run, so it is sorted as a whole. */
function walkRunning(from: Position | null, rows: number, given: Values): Walk {
  const after =
    from === null ? '' : `WHERE (started_at, id) > (${given.add(from[0])}::int8, ${given.add(from[1])}::uuid)`
  return {
    sql: `SELECT id, started_at AS a, id::text AS b FROM jobmill.running ${after} ORDER BY started_at, id LIMIT ${rows}`,
    order: 'walk.a, walk.id',
    width: 2,
  }
}

/** Last ended first: per queue by the index on ended attempts, backwards. */
function walkEnded(
  filter: JobFilter,
  state: JobState,
  from: Position | null,
  rows: number,
  given: Values,
): Walk {
  const before =
    from === null
      ? ''
      : `AND (t.ended_at, t.job_id) < (${given.add(from[0])}::int8, ${given.add(from[1])}::uuid)`
  return {
    sql: `SELECT t.job_id AS id, t.ended_at AS a, t.job_id::text AS b FROM jobmill.queue AS q CROSS JOIN LATERAL (
            SELECT t.job_id, t.ended_at FROM jobmill.attempt AS t
             WHERE t.queue_id = q.id AND t.ended_as = ${STATE_CODE[state]} ${before}
             ORDER BY t.ended_at DESC, t.job_id DESC LIMIT ${rows}) AS t
           ${ofQueue(filter, given)} ORDER BY t.ended_at DESC, t.job_id DESC LIMIT ${rows}`,
    order: 'walk.a DESC, walk.id DESC',
    width: 2,
  }
}

function ofQueue(filter: JobFilter, given: Values): string {
  return filter.queue === undefined ? '' : `WHERE q.name = ${given.add(filter.queue)}`
}

function matches(filter: JobFilter, given: Values): string {
  const tests = ['true']
  if (filter.queue !== undefined) {
    tests.push(`j.queue_id = (SELECT id FROM jobmill.queue WHERE name = ${given.add(filter.queue)})`)
  }
  if (filter.kind !== undefined)
    tests.push(`j.kind_id = (SELECT id FROM jobmill.kind WHERE name = ${given.add(filter.kind)})`)
  if (filter.tags !== undefined && filter.tags.length > 0)
    tests.push(`j.tags @> ${given.add(filter.tags)}::text[]`)
  if (filter.enqueuedFrom !== undefined)
    tests.push(`j.enqueued_at >= ${given.add(filter.enqueuedFrom)}::int8`)
  if (filter.enqueuedBefore !== undefined)
    tests.push(`j.enqueued_at < ${given.add(filter.enqueuedBefore)}::int8`)
  if (filter.payloadText !== undefined)
    tests.push(`strpos(j.payload::text, ${given.add(filter.payloadText)}) > 0`)
  return tests.map((test) => `coalesce(${test}, false)`).join(' AND ')
}
