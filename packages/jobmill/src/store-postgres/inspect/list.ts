/**
 * Lists jobs. Each listing reads the index of its order from the cursor, a bounded number of rows at a time.
 * Conditions that the index does not cover are tested for each row within that bound.
 */
import {
  type Chunk,
  type JobFilter,
  type JobPage,
  listWithinBudget,
  namesOf,
  type PageRequest,
  type Position,
} from '../../store/types/job-list.ts'
import { STATE_CODE } from '../../job/state.ts'
import { INDEX, type PayloadAt } from '../../store/payload-at.ts'
import type { Query } from '../connection/connection.ts'
import type { Context } from '../context.ts'
import { FAILED_OUTCOMES } from './failures.ts'
import { type Values, walkOf } from './list-orders.ts'
import { SUMMARY_COLUMNS, SUMMARY_JOINS, summaryOf } from './job-rows.ts'

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
  const position = (row: Readonly<Record<string, unknown>>): Position =>
    [row['a'], row['b']].slice(0, width) as (number | string)[]
  const scanned = Number(last?.['scanned'] ?? 0)
  return {
    jobs: matches.map((row) => ({ job: summaryOf(row), position: position(row) })),
    scanned,
    last: last === undefined ? null : position(last),
    end: scanned < rows,
  }
}

/** Returns the matching rows and the last row read, whether it matches or not. */
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

/**
 * `#>` treats a part as an array index if possible, including " 1", "+1" and "-1", which Jobmill treats as
 * keys. These parts use `->`, which matches only keys.
 */
function isAt({ path, value }: PayloadAt, given: Values): string {
  const at = path.reduce(
    (json, part) =>
      INDEX.test(part)
        ? `(${json} #> ARRAY[${given.add(part)}::text])`
        : `(${json} -> ${given.add(part)}::text)`,
    'j.payload',
  )
  const sought = `${given.add(value)}::text`
  return `(SELECT CASE json_typeof(v.x) WHEN 'string' THEN v.x #>> '{}' = ${sought}
       WHEN 'object' THEN false WHEN 'array' THEN false ELSE v.x::text = ${sought} END
     FROM (SELECT ${at} AS x OFFSET 0) AS v)`
}

/** One name is compared with one id, which is looked up once. Several names are hashed once. */
function isOneOf(
  table: 'queue' | 'kind',
  filter: string | readonly string[] | undefined,
  given: Values,
): string[] {
  const names = namesOf(filter)
  if (names === undefined) return []
  if (names.length === 1)
    return [`j.${table}_id = (SELECT id FROM jobmill.${table} WHERE name = ${given.add(names[0])})`]
  return [
    `j.${table}_id = ANY (ARRAY(SELECT id FROM jobmill.${table} WHERE name = ANY (${given.add(names)}::text[])))`,
  ]
}

function matches(filter: JobFilter, given: Values): string {
  const tests = ['true']
  tests.push(...isOneOf('queue', filter.queue, given), ...isOneOf('kind', filter.kind, given))
  if (filter.retrying === true) tests.push(`a.outcome IN (${FAILED_OUTCOMES})`)
  if (filter.endedFrom !== undefined)
    tests.push(`a.ended_as IS NOT NULL AND a.ended_at >= ${given.add(filter.endedFrom)}::int8`)
  if (filter.endedBefore !== undefined)
    tests.push(`a.ended_as IS NOT NULL AND a.ended_at < ${given.add(filter.endedBefore)}::int8`)
  if (filter.tags !== undefined && filter.tags.length > 0)
    tests.push(`j.tags @> ${given.add(filter.tags)}::text[]`)
  if (filter.enqueuedFrom !== undefined)
    tests.push(`j.enqueued_at >= ${given.add(filter.enqueuedFrom)}::int8`)
  if (filter.enqueuedBefore !== undefined)
    tests.push(`j.enqueued_at < ${given.add(filter.enqueuedBefore)}::int8`)
  if (filter.payloadText !== undefined)
    tests.push(`strpos(j.payload::text, ${given.add(filter.payloadText)}) > 0`)
  if (filter.errorText !== undefined)
    tests.push(
      `a.ended_as IS DISTINCT FROM ${STATE_CODE.done} AND strpos(a.error, ${given.add(filter.errorText)}) > 0`,
    )
  for (const one of filter.payloadAt ?? []) tests.push(isAt(one, given))
  return tests.map((test) => `coalesce(${test}, false)`).join(' AND ')
}
