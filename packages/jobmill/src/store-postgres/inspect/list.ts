/**
 * Lists jobs. Each listing reads the index of its order from the cursor, a bounded number of rows at a time.
 * Conditions that the index does not cover are tested for each row within that bound.
 */
import {
  type Chunk,
  type JobFilter,
  type JobPage,
  listWithinBudget,
  orderOf,
  namesOf,
  type PageRequest,
  type Position,
} from '../../store/types/job-list.ts'
import type { JobSummary } from '../../store/types/job-record.ts'
import { STATE_CODE } from '../../job/state.ts'
import { INDEX } from '../../job/payload/value-at.ts'
import type { PayloadAt } from '../../store/payload-at.ts'
import { unscopeKeyInSql } from '../../store/dedupe-key.ts'
import { askWith, type Context } from '../context.ts'
import { instancesOf } from './versions.ts'
import { FAILED_OUTCOMES } from './failures.ts'
import { walkOf } from './list-orders.ts'
import {
  type Coded,
  decode,
  ENDED_COLUMNS,
  ENDED_JOINS,
  JOB_JOIN,
  LAST_ATTEMPT_JOIN,
  STATE,
  SUMMARY_COLUMNS,
  SUMMARY_JOINS,
} from './job-rows.ts'
import { collectValues, type Values } from './values.ts'

const { dead, done } = STATE_CODE

/**
 * A read does not block the process. Planning takes several milliseconds, and tens of them on a busy server,
 * so small reads would cost more than they save.
 */
const READS = { longReadMs: 250 }

export function list(context: Context, filter: JobFilter, page: PageRequest): Promise<JobPage> {
  return listWithinBudget(
    context.platform,
    filter,
    page,
    (from, rows) => readChunk(context, filter, from, rows),
    READS,
  )
}

/** A row of the walk: its position, and whether the job matches. */
interface Found extends Coded<JobSummary> {
  readonly a: number | string
  readonly b: number | string
  readonly matches: boolean
  readonly scanned: number
  readonly n: number
}

/**
 * Reads the matching rows and the last row read, whether it matches or not. The filter needs only the job and
 * its last attempt. The other tables are read for the rows that are returned.
 */
async function readChunk(
  context: Context,
  filter: JobFilter,
  from: Position | null,
  rows: number,
): Promise<Chunk> {
  const given = collectValues()
  const { sql, order, width } = walkOf({ filter, from, rows, given })
  const [columns, joins] = readsEnded(filter)
    ? [ENDED_COLUMNS, ENDED_JOINS]
    : [SUMMARY_COLUMNS, SUMMARY_JOINS]
  const text = `
SELECT ${columns}, w.a, w.b, w.matches, w.scanned, w.n
  FROM (SELECT * FROM (
          SELECT w.*, (${matches(filter, given)}) AS matches, count(*) OVER () AS scanned
            FROM (SELECT walk.*, row_number() OVER (ORDER BY ${order}) AS n FROM (${sql}) AS walk) AS w
            ${joinsFor(filter)}) AS w
         WHERE w.matches OR w.n = w.scanned) AS w
  ${joins}
 ORDER BY w.n`
  const found = await askWith<Found>(context, text, given.list)
  const last = found.at(-1)
  const position = ({ a, b }: Pick<Found, 'a' | 'b'>): Position => [a, b].slice(0, width)
  const scanned = last?.scanned ?? 0
  return {
    jobs: found.flatMap(({ a, b, matches: isMatch, scanned: _, n: __, ...job }) =>
      isMatch ? [{ job: decode(job), position: position({ a, b }) }] : [],
    ),
    scanned,
    last: last === undefined ? null : position(last),
    end: scanned < rows,
  }
}

/**
 * `#>` treats a part as an array index if possible, even " 1", "+1" and "-1", which Jobmill treats as keys.
 * So these parts use `->`, which matches only keys.
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
function inQueue(filter: JobFilter['queue'], given: Values): string[] {
  const names = namesOf(filter)
  if (names === undefined) return []
  if (names.length === 1)
    return [`j.queue_id = (SELECT id FROM jobmill.queue WHERE name = ${given.add(names[0])})`]
  return [
    `j.queue_id = ANY (ARRAY(SELECT id FROM jobmill.queue WHERE name = ANY (${given.add(names)}::text[])))`,
  ]
}

/** The ids of the kinds and of their versions, which are looked up once. */
function ofKind(filter: JobFilter['kind'], given: Values): string[] {
  const names = namesOf(filter)
  if (names === undefined) return []
  const sought = `split_part(name, '@', 1) = ANY (${given.add(names)}::text[])`
  return [`j.kind_id = ANY (ARRAY(SELECT id FROM jobmill.kind WHERE ${sought}))`]
}

const ATTEMPT_FILTERS = [
  'endedFrom',
  'endedBefore',
  'startedFrom',
  'startedBefore',
  'failedFrom',
  'failedBefore',
  'version',
  'errorText',
] as const satisfies readonly (keyof JobFilter)[]

const hasAny = (filter: JobFilter, keys: readonly (keyof JobFilter)[]): boolean =>
  keys.some((key) => filter[key] !== undefined)

/** Only a list of running jobs, or of all states, has jobs whose last attempt is still running. */
const readsRun = (filter: JobFilter): boolean =>
  (filter.state === undefined || filter.state === 'running') &&
  hasAny(filter, ['startedFrom', 'startedBefore', 'version'])

/** A list by tag has jobs in every state. All other lists read the table of their state. */
const testsState = (filter: JobFilter): filter is JobFilter & Required<Pick<JobFilter, 'state'>> =>
  filter.byTag === true && filter.state !== undefined

/** The walk reads the attempts that ended a job, in the snapshot of the whole statement. */
function readsEnded(filter: JobFilter): boolean {
  const state = orderOf(filter)
  return state === 'done' || state === 'dead' || state === 'cancelled'
}

function joinsFor(filter: JobFilter): string {
  if (readsRun(filter) || testsState(filter)) return SUMMARY_JOINS
  return filter.retrying === true || hasAny(filter, ATTEMPT_FILTERS) ? JOB_JOIN + LAST_ATTEMPT_JOIN : JOB_JOIN
}

/** The end of the last failed attempt: at most 32 attempts, by the primary key. */
const FAILED_AT = `CASE WHEN a.ended_as = ${dead} THEN a.ended_at ELSE (
    SELECT f.ended_at FROM jobmill.attempt AS f WHERE f.job_id = w.id AND f.outcome IN (${FAILED_OUTCOMES})
     ORDER BY f.token DESC LIMIT 1) END`

function matches(filter: JobFilter, given: Values): string {
  const last = (column: 'started_at' | 'instance'): string =>
    readsRun(filter) ? `coalesce(ru.${column}, ba.${column}, a.${column})` : `a.${column}`
  const tests = [
    'true',
    ...inQueue(filter.queue, given),
    ...ofKind(filter.kind, given),
    ...(testsState(filter) ? [`${STATE} = ${STATE_CODE[filter.state]}`] : []),
    ...(filter.retrying === true ? [`a.outcome IN (${FAILED_OUTCOMES})`] : []),
    ...given.test(filter.endedFrom, (at) => `a.ended_as IS NOT NULL AND a.ended_at >= ${at}::int8`),
    ...given.test(filter.endedBefore, (at) => `a.ended_as IS NOT NULL AND a.ended_at < ${at}::int8`),
    ...given.test(filter.startedFrom, (at) => `${last('started_at')} >= ${at}::int8`),
    ...given.test(filter.startedBefore, (at) => `${last('started_at')} < ${at}::int8`),
    ...given.test(filter.failedFrom, (at) => `${FAILED_AT} >= ${at}::int8`),
    ...given.test(filter.failedBefore, (at) => `${FAILED_AT} < ${at}::int8`),
    ...given.test(namesOf(filter.version), (versions) => `${last('instance')} IN (${instancesOf(versions)})`),
    ...given.test(filter.orderKey, (key) => `j.order_key = ${key}`),
    ...given.test(filter.group, (group) => `j.group_name = ${group}`),
    ...given.test(
      filter.dedupeKey,
      (key) => `${key}::text IN (j.dedupe_key, ${unscopeKeyInSql('j.dedupe_key', 'strpos')})`,
    ),
    ...given.test(filter.tags?.length === 0 ? undefined : filter.tags, (tags) => `j.tags @> ${tags}::text[]`),
    ...given.test(filter.enqueuedFrom, (at) => `j.enqueued_at >= ${at}::int8`),
    ...given.test(filter.enqueuedBefore, (at) => `j.enqueued_at < ${at}::int8`),
    ...given.test(filter.payloadText, (text) => `strpos(j.payload::text, ${text}) > 0`),
    ...given.test(
      filter.errorText,
      (text) => `a.ended_as IS DISTINCT FROM ${done} AND strpos(a.error, ${text}) > 0`,
    ),
    ...(filter.payloadAt ?? []).map((one) => isAt(one, given)),
  ]
  return tests.map((test) => `coalesce(${test}, false)`).join(' AND ')
}
