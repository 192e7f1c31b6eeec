/**
 * Lists jobs. Every order is that of an index, in one or several lanes. Filters without an index are
 * evaluated per row, within the scan budget, and returned as `hit`.
 */
import { type Chunk, cursorInvalid, type JobFilter, type Position } from '../../store/types/job-list.ts'
import { hitOf } from './list-filter.ts'
import { listOrder, type Entry } from './list-orders.ts'
import { mergeLanes } from '../claim/lanes.ts'
import { SUMMARY, decode, type SummaryRow } from './jobs.ts'
import type { Look } from '../work.ts'

// Uses the primary key.
const ROW = `SELECT ${SUMMARY} FROM jobmill_job AS j WHERE j.pk = ?`

const NOTHING: Chunk = { jobs: [], scanned: 0, last: null, end: true }

/** One bounded read: `rows` entries after `from`, and the matching jobs among them. */
export function listChunk(look: Look, filter: JobFilter, from: Position | null, rows: number): Chunk {
  const hit = hitOf(look, filter)
  if (hit === null) return NOTHING
  const order = listOrder(filter)
  const first = from === null ? order.start : order.entryAt(from)
  if (first === undefined) throw cursorInvalid(from)
  const entries = mergeLanes(order.lanes(look, filter, hit, first), order.compare, rows)
  const last = entries.at(-1)
  return {
    jobs: entries.flatMap((entry) =>
      entry.hit === 1 ? [{ job: readJob(look, entry), position: order.positionOf(entry) }] : [],
    ),
    scanned: entries.length,
    last: last === undefined ? null : order.positionOf(last),
    end: entries.length < rows,
  }
}

function readJob(look: Look, { pk }: Entry) {
  return decode(look, look.sql(ROW).get(pk) as SummaryRow)
}
