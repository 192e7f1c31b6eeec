/** Calls the function enqueue, which inserts all given jobs, and reads its reply. */
import { DEFAULTS } from '../../job/defaults.ts'
import type { NewJob } from '../../job/enqueue/new-job.ts'
import { insertLeased } from '../../store/insert-leased.ts'
import type { Enqueued } from '../../store/types/replies.ts'
import { arrayOf, jsonListOf, textArrayOf } from '../connection/array-text.ts'
import type { Query, Row } from '../connection/connection.ts'
import { type Context, run } from '../context.ts'
import { namesTrue, XID } from '../fragments.ts'
import { NamesChanged } from '../names/names-changed.ts'
import { notRun } from '../tx.ts'
import type { ReadyCounts } from './ready-counts.ts'
import { rememberFirst, type Walked, type Workers, workersColumns } from './workers.ts'

/** The parameters of the function after its first two, with the casts for a JSON text. */
const PARAMETERS = {
  ids: 'uuid[]',
  queues: 'int4[]',
  kinds: 'int4[]',
  priorities: 'int2[]',
  attempts: 'int2[]',
  timeouts: 'int8[]',
  payloads: 'text',
  tags: 'text[]',
  metadata: 'text',
  rare: 'text',
  repeat: 'bool',
}
const WORKERS = 11
const NUMBERS = Array.from({ length: Object.keys(PARAMETERS).length + WORKERS }, (_, n) => `$${n + 3}`)
const ENQUEUE = `SELECT * FROM jobmill.enqueue($1, ${namesTrue('$2')}, ${NUMBERS.join(', ')})`

/** One parameter, a text: this works with any driver, pooler or ORM behind a user's transaction. */
const ENQUEUE_IN_TX = `
SELECT e.jobs, e.placed, ${XID}
  FROM (SELECT $1::text::json AS p) AS s CROSS JOIN LATERAL jobmill.enqueue(
    (s.p ->> 'now')::int8, ${namesTrue(`(s.p ->> 'names')`)},
    ${Object.entries(PARAMETERS)
      .map(([name, type]) => `(s.p ->> '${name}')::${type}`)
      .join(', ')}${', NULL'.repeat(WORKERS)}) AS e`

export interface InsertOptions {
  /** The ids may exist: such jobs stay unchanged. */
  readonly mayRepeat: boolean
  readonly counts: ReadyCounts
  /** The transaction to write in; without it, the call commits on its own. */
  readonly query?: Query | undefined
  readonly workers?: Workers | undefined
}

/** The reply of the function for jobs that are not all alike. The numbers start at 1. */
interface Placed {
  readonly ready?: unknown
  readonly started?: readonly number[] | null
  readonly lost?: readonly number[] | null
  readonly stray?: readonly number[] | null
}

export interface Inserted {
  /** In the order of the call. */
  readonly replies: Enqueued[]
  /** Their dedupe key is held by another job. */
  readonly lost: readonly NewJob[]
  /** Existed when they took their dedupe key. */
  readonly stray: readonly NewJob[]
}

export async function insertJobs(
  context: Context,
  jobs: readonly NewJob[],
  options: InsertOptions,
): Promise<Inserted> {
  const map = context.names.current
  const { counts, workers, mayRepeat } = options
  const rare = rareOf(jobs)
  const from = context.batches.from()
  const columns = [...jobColumns(context, jobs, rare, mayRepeat), ...workersColumns(map, workers), from]
  // Sent along with the statement if all jobs become ready.
  const notification =
    options.query === undefined && workers === undefined && rare === null && !mayRepeat
      ? context.notifier.along(readyIn(jobs))
      : null
  const row = await call(context, options.query, columns, notification?.statement)
  if (Number(row?.['jobs']) === 0) throw new NamesChanged()
  // Only a function of the user that ran a different statement can cause this. Never report such jobs as
  // enqueued.
  if (Number(row?.['jobs']) !== jobs.length) throw notRun()
  counts.noteTransaction(row)
  notification?.wakeLocal()
  const walked = parsed<readonly Walked[]>(row?.['walked'])
  if (workers !== undefined && walked !== null) rememberFirst(context, map, workers, walked)

  const placed = parsed<Placed>(row?.['placed'])
  const token = Number(row?.['lease_token'])
  const leased = Number(row?.['leased'])
  if (placed === null && from !== null && leased >= from) context.batches.add(token, leased)
  const started = new Set(placed?.started)
  const starts = (n: number): boolean => (placed === null ? n < leased : started.has(n + 1))
  if (rare !== null || mayRepeat) {
    counts.addCounts(placed?.ready, map)
    for (const job of jobs) if (isDueSoon(context, job, Number(row?.['at']))) counts.addLook(job.queue)
  } else if (notification === null)
    for (const [n, { queue }] of jobs.entries()) if (!starts(n)) counts.add(queue, 1)
  const at = (numbers: readonly number[] | null | undefined): NewJob[] =>
    (numbers ?? []).flatMap((n) => jobs[n - 1] ?? [])
  return {
    replies: jobs.map((job, n) =>
      workers?.remote === null && starts(n)
        ? { id: job.id, outcome: 'enqueued', lease: insertLeased(job, token, Number(row?.['at'])) }
        : { id: job.id, outcome: 'enqueued' },
    ),
    lost: at(placed?.lost),
    stray: at(placed?.stray),
  }
}

async function call(
  context: Context,
  query: Query | undefined,
  columns: readonly unknown[],
  after: Parameters<Context['connection']['tuples']>[2],
): Promise<Row | undefined> {
  const { version } = context.names.current
  if (query !== undefined && context.isUserTransaction === true) {
    const fields = Object.keys(PARAMETERS).map((name, n) => `"${name}":${JSON.stringify(columns[n])}`)
    return (await run(context, query, ENQUEUE_IN_TX, `"names":"${version}",${fields.join(',')}`))[0]
  }
  const text = context.sql(ENQUEUE)
  const values = [context.clock?.() ?? null, version, ...columns]
  if (query !== undefined) return (await query(text, values))[0]
  const [reply = []] = await context.connection.tuples(text, values, after)
  const [jobs, at, lease_token, leased, walked, placed] = reply
  return { jobs, at, lease_token, leased, walked, placed }
}

/** In the order of PARAMETERS. What all jobs have in common is sent once. */
function jobColumns(
  { names }: Context,
  jobs: readonly NewJob[],
  rare: string | null,
  mayRepeat: boolean,
): unknown[] {
  const map = names.current
  const isAlike = areAlike(jobs)
  const listOf = (value: (job: NewJob) => number | null): string =>
    arrayOf((isAlike ? jobs.slice(0, 1) : jobs).map(value))
  return [
    arrayOf(jobs.map(({ id }) => id)),
    listOf(({ queue }) => map.queues.id(queue)),
    listOf(({ kind }) => map.kinds.id(kind)),
    listOf(({ priority }) => priority),
    listOf(({ maxAttempts }) => maxAttempts),
    listOf(({ timeoutMs }) => timeoutMs),
    jsonListOf(jobs.map(({ payload }) => payload)),
    tagLists(jobs),
    jobs.some(({ metadata }) => metadata !== null) ? jsonListOf(jobs.map(({ metadata }) => metadata)) : null,
    rare,
    mayRepeat,
  ]
}

function areAlike(jobs: readonly NewJob[]): boolean {
  const [first] = jobs
  return jobs.every(
    (job) =>
      job.queue === first?.queue &&
      job.kind === first.kind &&
      job.priority === first.priority &&
      job.maxAttempts === first.maxAttempts &&
      job.timeoutMs === first.timeoutMs,
  )
}

function tagLists(jobs: readonly NewJob[]): string | null {
  if (jobs.every(({ tags }) => tags.length === 0)) return null
  return textArrayOf(jobs.map(({ tags }) => (tags.length === 0 ? null : textArrayOf(tags))))
}

/** The options that keep jobs from becoming ready at once, by number; null for none. */
function rareOf(jobs: readonly NewJob[]): string | null {
  const items = jobs.flatMap((job, n) => {
    const { dueAt, delayMs, dedupe, orderKey, group } = job
    const fields =
      (dueAt === null ? '' : `,"due_at":${dueAt}`) +
      (delayMs === 0 ? '' : `,"delay_ms":${delayMs}`) +
      (dedupe === null
        ? ''
        : `,"dedupe_key":${JSON.stringify(dedupe.key)},"hold_ms":${dedupe.holdMs},"hold_after":"${dedupe.holdAfter}"`) +
      (orderKey === null ? '' : `,"order_key":${JSON.stringify(orderKey)}`) +
      (group === null ? '' : `,"group_name":${JSON.stringify(group)}`) +
      (job.first === true ? ',"first":true' : '') +
      (job.parent === undefined ? '' : `,"parent":${JSON.stringify(job.parent)}`)
    return fields === '' ? [] : `{"n":${n + 1}${fields}}`
  })
  return items.length === 0 ? null : `[${items.join(',')}]`
}

/**
 * Whether a job that is due later may be due before the next heartbeat of an idle instance. The time until a
 * transaction of the user commits is unknown.
 */
function isDueSoon({ isUserTransaction }: Context, { delayMs, dueAt }: NewJob, now: number): boolean {
  if (delayMs === 0 && dueAt === null) return false
  if (isUserTransaction === true || (dueAt !== null && Number.isNaN(now))) return true
  return (dueAt === null ? delayMs : dueAt - now) <= DEFAULTS.dueSoonMs
}

function readyIn(jobs: readonly NewJob[]): { queue: string; jobs: number }[] {
  return areAlike(jobs)
    ? jobs.slice(0, 1).map(({ queue }) => ({ queue, jobs: jobs.length }))
    : jobs.map(({ queue }) => ({ queue, jobs: 1 }))
}

/** A column of type json: as text, or as the user's driver parsed it. */
function parsed<T>(json: unknown): T | null {
  return typeof json === 'string' ? (JSON.parse(json) as T) : ((json ?? null) as T | null)
}
