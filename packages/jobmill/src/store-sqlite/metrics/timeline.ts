/** Events, newest first. */
import type { TimelineEvent, TimelineQuery } from '../../store/types/metrics.ts'
import type { Value } from '../connection/handle.ts'
import { type Lane, mergeLanes } from '../claim/lanes.ts'
import type { Look } from '../work.ts'

/** The index for the most selective filter; the other filters are checked per row. */
const BY = {
  job: 'INDEXED BY jobmill_event_job WHERE job = ?',
  queue: 'INDEXED BY jobmill_event_queue WHERE queue = ?',
  type: 'INDEXED BY jobmill_event_type WHERE type = ?',
  n: 'WHERE n > ?',
}

// A range of the index, or of the primary key, from its end.
const eventsBy = (by: keyof typeof BY): string => `
  SELECT n, at, type, source, queue, job, data FROM jobmill_event ${BY[by]} AND n >= ? AND n < ? AND at >= ? AND at < ?
    AND (? IS NULL OR queue = ?) AND (? IS NULL OR type IN (SELECT value FROM json_each(?)))
  ORDER BY n DESC LIMIT ?`

// The range of jobmill_event_at: the numbers of all events in that time. Events are written shortly after
// they happen, so their numbers follow the time only roughly.
const WITHIN = `
  SELECT min(n) AS first, max(n) AS last FROM jobmill_event INDEXED BY jobmill_event_at WHERE at >= ? AND at < ?`

const [FIRST, LAST] = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]

export function timeline(look: Look, query: TimelineQuery): TimelineEvent[] {
  return mergeLanes(lanesOf(look, query), (a, b) => b.n - a.n, query.limit)
}

function lanesOf({ sql }: Look, query: TimelineQuery): Lane<TimelineEvent>[] {
  const { types, queue = null, job, from = FIRST, before = LAST, beforeN = LAST } = query
  const { first, last } =
    query.from === undefined
      ? { first: 0, last: LAST - 1 }
      : (sql(WITHIN).get(from, before) as { first: number | null; last: number | null })
  if (first === null || last === null) return []
  const kinds = types === undefined ? null : JSON.stringify(types)
  const lane = (by: keyof typeof BY, value: Value): Lane<TimelineEvent> => ({
    fetch(after, rows) {
      const end = after?.n ?? Math.min(beforeN, last + 1)
      const filters = [value, first, end, from, before, queue, queue, kinds, kinds]
      return sql(eventsBy(by)).all(...filters, rows) as TimelineEvent[]
    },
  })
  if (job !== undefined) return [lane('job', job)]
  if (queue !== null) return [lane('queue', queue)]
  return types === undefined ? [lane('n', 0)] : [...new Set(types)].map((type) => lane('type', type))
}
