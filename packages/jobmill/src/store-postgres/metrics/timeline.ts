/** Reads timeline events that no job or attempt records, newest first. */
import type { TimelineEvent, TimelineQuery } from '../../store/types/metrics.ts'
import type { Row } from '../connection/connection.ts'
import type { Context } from '../context.ts'

/**
 * Reads an index backward: of the job, the queue, the type, or the primary key, whichever the planner
 * estimates to be the shortest for these values. Several types are read separately, each up to the page size.
 */
export async function timeline(context: Context, query: TimelineQuery): Promise<TimelineEvent[]> {
  const values: unknown[] = []
  const add = (value: unknown): string => `$${values.push(value)}`
  const tests = [
    ...(query.job === undefined ? [] : [`e.job_id = ${add(query.job)}::uuid`]),
    ...(query.queue === undefined ? [] : [`e.queue = ${add(query.queue)}`]),
    ...(query.from === undefined ? [] : [`e.at >= ${add(query.from)}::int8`]),
    ...(query.before === undefined ? [] : [`e.at < ${add(query.before)}::int8`]),
    ...(query.beforeN === undefined ? [] : [`e.n < ${add(query.beforeN)}::int8`]),
  ]
  const newest = (...more: string[]): string =>
    `(SELECT e.* FROM jobmill.event AS e WHERE ${['true', ...tests, ...more].join(' AND ')} ORDER BY e.n DESC LIMIT ${query.limit})`
  const types = query.types === undefined ? undefined : [...new Set(query.types)]
  if (types?.length === 0) return []
  const ways = types?.map((type) => newest(`e.type = ${add(type)}`)) ?? [newest()]
  const text = `SELECT * FROM (${ways.join(' UNION ALL ')}) AS e ORDER BY e.n DESC LIMIT ${query.limit}`
  return (await context.connection.query(context.sql(text), values)).map(eventOf)
}

function eventOf(row: Row): TimelineEvent {
  return {
    n: row['n'] as number,
    at: row['at'] as number,
    type: row['type'] as string,
    source: row['source'] as string,
    queue: row['queue'] as string | null,
    job: row['job_id'] as string | null,
    data: row['data'] as string,
  }
}
