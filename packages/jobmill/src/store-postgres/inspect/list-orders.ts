/**
 * The order of each listing, which is the order of an index: the rows to read, the start position, and its
 * columns.
 */
import { UUID } from '../../job/names.ts'
import { type JobState, STATE_CODE } from '../../job/state.ts'
import { cursorInvalid, type JobFilter, namesOf, type Position } from '../../store/types/job-list.ts'

/** The rows to read, in order: `walk(id, a, b)` with the position in one or two columns. */
interface Walk {
  readonly sql: string
  readonly order: string
  readonly width: 1 | 2
}

/** Collects parameters and returns their placeholders. */
export interface Values {
  add(value: unknown): string
}

const isNumber = (part: unknown): boolean => Number.isSafeInteger(part)
const isId = (part: unknown): boolean => typeof part === 'string' && UUID.test(part)

/** A cursor comes from outside, so its values are checked before they reach the server. */
function checkPosition(filter: JobFilter, from: Position): void {
  const shape =
    filter.state === undefined ? [isId] : filter.state === 'ready' ? [isNumber, isNumber] : [isNumber, isId]
  const fits = from.length === shape.length && shape.every((isIt, at) => isIt(from[at]))
  if (!fits) throw cursorInvalid(from)
}

export function walkOf(filter: JobFilter, from: Position | null, rows: number, given: Values): Walk {
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

/** Newest id first, by the primary key of the job. With a tag, by the index of tags. */
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

/** Soonest due first: `later` and `order_queue`, each by its index on the due time. */
function walkScheduled(from: Position | null, rows: number, given: Values): Walk {
  const after =
    from === null ? '' : `WHERE (due_at, id) > (${given.add(from[0])}::int8, ${given.add(from[1])}::uuid)`
  const one = (table: string): string =>
    `(SELECT id, due_at FROM jobmill.${table} ${after} ORDER BY due_at, id LIMIT ${rows})`
  return {
    sql: `SELECT s.id, s.due_at AS a, s.id::text AS b FROM (${one('later')} UNION ALL ${one('order_queue')}) AS s
           ORDER BY s.due_at, s.id LIMIT ${rows}`,
    order: 'walk.a, walk.id',
    width: 2,
  }
}

/** Lists ready jobs in claim order: per queue, by the primary key of `ready`. */
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

/**
 * Longest running first. The table holds no more jobs than the instances can run, so it is sorted completely.
 */
function walkRunning(from: Position | null, rows: number, given: Values): Walk {
  const after =
    from === null ? '' : `WHERE (started_at, id) > (${given.add(from[0])}::int8, ${given.add(from[1])}::uuid)`
  return {
    sql: `SELECT id, started_at AS a, id::text AS b FROM jobmill.running ${after} ORDER BY started_at, id LIMIT ${rows}`,
    order: 'walk.a, walk.id',
    width: 2,
  }
}

/** Last ended first: per queue, by the index on ended attempts, backward. */
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
  // The range of end times bounds the index scan. Without it, an old range would be reached row by row.
  const range = [
    ...(filter.endedFrom === undefined ? [] : [`AND t.ended_at >= ${given.add(filter.endedFrom)}::int8`]),
    ...(filter.endedBefore === undefined ? [] : [`AND t.ended_at < ${given.add(filter.endedBefore)}::int8`]),
  ].join(' ')
  return {
    sql: `SELECT t.job_id AS id, t.ended_at AS a, t.job_id::text AS b FROM jobmill.queue AS q CROSS JOIN LATERAL (
            SELECT t.job_id, t.ended_at FROM jobmill.attempt AS t
             WHERE t.queue_id = q.id AND t.ended_as = ${STATE_CODE[state]} ${range} ${before}
             ORDER BY t.ended_at DESC, t.job_id DESC LIMIT ${rows}) AS t
           ${ofQueue(filter, given)} ORDER BY t.ended_at DESC, t.job_id DESC LIMIT ${rows}`,
    order: 'walk.a DESC, walk.id DESC',
    width: 2,
  }
}

function ofQueue(filter: JobFilter, given: Values): string {
  const names = namesOf(filter.queue)
  if (names === undefined) return ''
  return names.length === 1
    ? `WHERE q.name = ${given.add(names[0])}`
    : `WHERE q.name = ANY (${given.add(names)}::text[])`
}
