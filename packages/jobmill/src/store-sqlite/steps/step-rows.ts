/** The rows of steps and events. All statements use the primary keys, whose first column is the job. */
import { STATE_CODE } from '../../job/state.ts'
import type { TransferredEvent, TransferredJob } from '../../store/admin/transfer.ts'
import { type Memo, STEP_KINDS, type StepRecord } from '../../store/types/step.ts'
import type { Sql } from '../connection/handle.ts'
import { findJob, HAS_EVENTS, HAS_STEPS, type JobRow } from '../job-row.ts'
import type { Work } from '../work.ts'
import { childOf, type ChildRow, CHILDREN } from './child-rows.ts'

export interface StepRow {
  readonly name: string
  readonly place: number
  readonly kind: number
  readonly token: number
  readonly started_at: number
  readonly ended_at: number | null
  readonly due_at: number | null
  readonly events: string | null
  readonly result: string | null
  readonly checkpoint: string | null
}

const COLUMNS = 'name, place, kind, token, started_at, ended_at, due_at, events, result, checkpoint'
const ALL = `SELECT ${COLUMNS} FROM jobmill_step WHERE job_pk = ? ORDER BY place`
const ONE = `SELECT ${COLUMNS} FROM jobmill_step WHERE job_pk = ? AND name = ?`
const DROP = `DELETE FROM jobmill_step WHERE job_pk = ?`
const DROP_EVENTS = `DELETE FROM jobmill_job_event WHERE job_pk = ?`
const DROP_CHILDREN = `DELETE FROM jobmill_child WHERE parent_pk = ?`

export function stepRow(sql: Sql, jobPk: number, name: string): StepRow | undefined {
  return sql(ONE).get(jobPk, name) as StepRow | undefined
}

/** Called only for jobs that have steps or events. */
export function dropSteps(sql: Sql, jobPk: number): void {
  sql(DROP).run(jobPk)
  sql(DROP_EVENTS).run(jobPk)
  sql(DROP_CHILDREN).run(jobPk)
}

function stepRows(sql: Sql, job: Pick<JobRow, 'pk' | 'flags'> | undefined): StepRow[] {
  if (job === undefined || (job.flags & HAS_STEPS) === 0) return []
  return sql(ALL).all(job.pk) as StepRow[]
}

/** A sleep ends when its time is up. Nothing writes its end. */
function endOf({ ended_at: endedAt, due_at: dueAt, events }: StepRow, now: number): number | null {
  if (endedAt !== null || events !== null || dueAt === null) return endedAt
  return dueAt <= now ? dueAt : null
}

export function memos(sql: Sql, id: string, now: number): Memo[] {
  return stepRows(sql, findJob(sql, id)).map((row) => ({
    name: row.name,
    place: row.place,
    kind: kindOf(row),
    isDone: endOf(row, now) !== null,
    result: row.result,
    checkpoint: row.checkpoint,
  }))
}

/** Null if the job does not exist. */
export function listSteps(sql: Sql, id: string, now: number): StepRecord[] | null {
  const job = findJob(sql, id)
  if (job === undefined) return null
  return stepRows(sql, job).map((row) => ({ ...stepOf(row), endedAt: endOf(row, now) }))
}

function stepOf(row: StepRow): StepRecord {
  return {
    name: row.name,
    place: row.place,
    kind: kindOf(row),
    startedAt: row.started_at,
    endedAt: row.ended_at,
    dueAt: row.due_at,
    events: row.events === null ? [] : (JSON.parse(row.events) as string[]),
    result: row.result,
    checkpoint: row.checkpoint,
  }
}

function kindOf({ kind }: Pick<StepRow, 'kind'>): StepRecord['kind'] {
  return STEP_KINDS[kind] ?? 'run'
}

const EVENTS = `
  SELECT id, name, payload, sent_at AS sentAt, step FROM jobmill_job_event WHERE job_pk = ? ORDER BY place`
const ADD = `
  INSERT INTO jobmill_step (job_pk, name, place, kind, token, started_at, ended_at, due_at, events, result, checkpoint)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const ADD_EVENT = `
  INSERT INTO jobmill_job_event (job_pk, id, place, name, payload, sent_at, step) VALUES (?, ?, ?, ?, ?, ?, ?)`

const ADD_CHILD = `
  INSERT INTO jobmill_child (parent_pk, step, place, id, ended_as, result, error) VALUES (?, ?, ?, ?, ?, ?, ?)`

type Stored = Pick<TransferredJob, 'steps' | 'events' | 'children'>

/** The unchanged rows, for a transfer. */
export function stepsOut(sql: Sql, job: Pick<JobRow, 'pk' | 'flags'>): Stored {
  if ((job.flags & (HAS_STEPS | HAS_EVENTS)) === 0) return { steps: [], events: [], children: [] }
  return {
    steps: stepRows(sql, job).map((row) => ({ ...stepOf(row), token: row.token })),
    events: sql(EVENTS).all(job.pk) as TransferredEvent[],
    children: (sql(CHILDREN).all(job.pk) as ChildRow[]).map(childOf),
  }
}

export function stepsIn({ sql, counters }: Work, jobPk: number, { steps, events, children }: Stored): void {
  for (const {
    name,
    place,
    kind,
    token,
    startedAt,
    endedAt,
    dueAt,
    events: names,
    result,
    checkpoint,
  } of steps) {
    const list = names.length === 0 ? null : JSON.stringify(names)
    const code = STEP_KINDS.indexOf(kind)
    sql(ADD).run(jobPk, name, place, code, token, startedAt, endedAt, dueAt, list, result, checkpoint)
  }
  for (const { id, name, payload, sentAt, step } of events)
    sql(ADD_EVENT).run(jobPk, id, counters.take('event'), name, payload, sentAt, step)
  for (const { step, place, id, endedAs, result, error } of children)
    sql(ADD_CHILD).run(jobPk, step, place, id, endedAs === null ? null : STATE_CODE[endedAs], result, error)
}
