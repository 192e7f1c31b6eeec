/** Reads timeline events that no job or attempt records, newest first. */
import type { TimelineEvent, TimelineQuery } from '../../store/types/metrics.ts'
import { askWith, type Context } from '../context.ts'
import { collectValues } from '../inspect/values.ts'

/**
 * Reads an index backward: of the job, the queue, the type, or the primary key, whichever the planner
 * estimates to be the shortest for these values. Several types are read separately, each up to the page size.
 */
export async function timeline(context: Context, query: TimelineQuery): Promise<TimelineEvent[]> {
  const given = collectValues()
  const tests = [
    ...given.test(query.job, (job) => `e.job_id = ${job}::uuid`),
    ...given.test(query.queue, (queue) => `e.queue = ${queue}`),
    ...given.test(query.from, (from) => `e.at >= ${from}::int8`),
    ...given.test(query.before, (before) => `e.at < ${before}::int8`),
    ...given.test(query.beforeN, (n) => `e.n < ${n}::int8`),
  ]
  const newest = (...more: string[]): string =>
    `(SELECT e.* FROM jobmill.event AS e WHERE ${['true', ...tests, ...more].join(' AND ')} ORDER BY e.n DESC LIMIT ${query.limit})`
  const types = query.types === undefined ? undefined : [...new Set(query.types)]
  if (types?.length === 0) return []
  const ways = types?.map((type) => newest(`e.type = ${given.add(type)}`)) ?? [newest()]
  const text = `SELECT e.n, e.at, e.type, e.source, e.queue, e.job_id AS job, e.data FROM (${ways.join(' UNION ALL ')}) AS e ORDER BY e.n DESC LIMIT ${query.limit}`
  return askWith(context, text, given.list)
}
