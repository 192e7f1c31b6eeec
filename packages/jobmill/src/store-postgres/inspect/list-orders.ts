/**
 * The order of each listing, which is the order of an index: the rows to read, the start position, and the
 * columns of that position.
 */
import { UUID } from '../../job/names.ts'
import { STATE_CODE } from '../../job/state.ts'
import { batched } from '../fragments.ts'
import {
  cursorInvalid,
  endedRange,
  type JobFilter,
  namesOf,
  orderOf,
  type Position,
} from '../../store/types/job-list.ts'
import type { Values } from './values.ts'

/** The rows to read, in order: `walk(id, a, b)` with the position in one or two columns. */
interface Walk {
  readonly sql: string
  readonly order: string
  readonly width: 1 | 2
}

interface Listing {
  readonly filter: JobFilter
  /** Null for the start. */
  readonly from: Position | null
  /** How many to read. */
  readonly rows: number
  readonly given: Values
}

export function walkOf(listing: Listing): Walk {
  const state = orderOf(listing.filter)
  switch (state) {
    case undefined:
      return walkAll(listing)
    case 'scheduled':
      return walkScheduled(listing)
    case 'ready':
      return walkReady(listing)
    case 'running':
      return walkRunning(listing)
    default:
      return walkEnded(listing, STATE_CODE[state])
  }
}

const IS = {
  uuid: (part: unknown) => typeof part === 'string' && UUID.test(part),
  int2: Number.isSafeInteger,
  int8: Number.isSafeInteger,
  // The places of a fair queue are too large for a number.
  place: (part: unknown) =>
    Number.isSafeInteger(part) || (typeof part === 'string' && /^-?\d{1,19}$/.test(part)),
}

/**
 * The condition for rows after the position, if there is one. A cursor comes from outside, so its values are
 * checked before they reach the server.
 */
function behind(
  { from, given }: Listing,
  comparison: string,
  ...types: readonly (keyof typeof IS)[]
): string[] {
  if (from === null) return []
  const fits = from.length === types.length && types.every((type, at) => IS[type](from[at]))
  if (!fits) throw cursorInvalid(from)
  return [
    `${comparison} (${types.map((type, at) => `${given.add(from[at])}::${type === 'place' ? 'int8' : type}`).join(', ')})`,
  ]
}

const where = (conditions: readonly string[]): string => ['WHERE true', ...conditions].join(' AND ')

/** Newest id first, by the primary key of the job. With a tag, by the index of tags. */
function walkAll(listing: Listing): Walk {
  const { filter, rows, given } = listing
  const tag = filter.tags?.[0]
  const [table, id] = tag === undefined ? ['job', 'id'] : ['job_tag', 'job_id']
  const conditions = [
    ...given.test(tag, (value) => `tag = ${value}`),
    ...behind(listing, `(${id}) <`, 'uuid'),
  ]
  return {
    sql: `SELECT ${id} AS id, ${id}::text AS a, NULL::text AS b FROM jobmill.${table}
           ${where(conditions)} ORDER BY ${id} DESC LIMIT ${rows}`,
    order: 'walk.id DESC',
    width: 1,
  }
}

/** Soonest due first: `later` and `order_queue`, each by its index on the due time. */
function walkScheduled(listing: Listing): Walk {
  const { rows } = listing
  const after = where(behind(listing, '(due_at, id) >', 'int8', 'uuid'))
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
function walkReady(listing: Listing): Walk {
  const { rows } = listing
  const conditions = ['r.queue_id = q.id', ...behind(listing, '(r.priority, r.seq) >', 'int2', 'place')]
  return {
    sql: `SELECT r.id, r.priority AS a, r.seq::text AS b FROM jobmill.queue AS q CROSS JOIN LATERAL (
            SELECT r.id, r.priority, r.seq FROM jobmill.ready AS r ${where(conditions)}
             ORDER BY r.priority, r.seq LIMIT ${rows}) AS r
           ${ofQueue(listing)} ORDER BY r.priority, r.seq LIMIT ${rows}`,
    order: 'walk.a, walk.b::int8',
    width: 2,
  }
}

/**
 * Longest running first. The table has no more jobs than the instances can run, so all of them are sorted.
 */
function walkRunning(listing: Listing): Walk {
  return {
    sql: `SELECT id, started_at AS a, id::text AS b FROM (
            SELECT r.id, r.started_at FROM jobmill.running AS r UNION ALL SELECT m.id, m.started_at FROM ${batched()} AS m) AS r
           ${where(behind(listing, '(started_at, id) >', 'int8', 'uuid'))} ORDER BY started_at, id LIMIT ${listing.rows}`,
    order: 'walk.a, walk.id',
    width: 2,
  }
}

/** Last ended first: per queue, by the index on ended attempts, backward. */
function walkEnded(listing: Listing, state: number): Walk {
  const { filter, rows, given } = listing
  const { from, before } = endedRange(filter)
  const conditions = [
    `t.queue_id = q.id AND t.ended_as = ${state}`,
    // The range of end times bounds the index scan. Without it, an old range would be reached row by row.
    ...given.test(from, (at) => `t.ended_at >= ${at}::int8`),
    ...given.test(before, (at) => `t.ended_at < ${at}::int8`),
    ...behind(listing, '(t.ended_at, t.job_id) <', 'int8', 'uuid'),
  ]
  return {
    sql: `SELECT t.job_id AS id, t.ended_at AS a, t.job_id::text AS b FROM jobmill.queue AS q CROSS JOIN LATERAL (
            SELECT t.job_id, t.ended_at FROM jobmill.attempt AS t ${where(conditions)}
             ORDER BY t.ended_at DESC, t.job_id DESC LIMIT ${rows}) AS t
           ${ofQueue(listing)} ORDER BY t.ended_at DESC, t.job_id DESC LIMIT ${rows}`,
    order: 'walk.a DESC, walk.id DESC',
    width: 2,
  }
}

function ofQueue({ filter, given }: Listing): string {
  const names = namesOf(filter.queue)
  if (names === undefined) return ''
  return names.length === 1
    ? `WHERE q.name = ${given.add(names[0])}`
    : `WHERE q.name = ANY (${given.add(names)}::text[])`
}
