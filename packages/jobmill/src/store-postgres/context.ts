/** What every verb of this store receives: a way to run statements, the names, and the notifier. */
import type { NewJob } from '../job/new-job.ts'
import type { Platform } from '../platform/platform.ts'
import type { Notification } from './notify-message.ts'
import type { Connection, Query } from './connection.ts'
import type { NotifyAlong } from './notifier.ts'
import type { DueFloor } from './due-floor.ts'
import type { Floors } from './floors.ts'
import type { HandOver } from './hand-over.ts'
import type { Names } from './names.ts'

export interface Context {
  readonly connection: Connection
  readonly names: Names
  /** The statements run in a transaction of the user, which an error would abort. */
  readonly isUserTransaction?: true
  readonly platform: Platform
  /** For tests: their now instead of the database's. */
  readonly clock: (() => number) | undefined
  /** Puts a statement that is written for the schema `jobmill` into the schema of this store. */
  readonly sql: (text: string) => string
  /** Tells waiting claimers of this and other processes that these queues have work. */
  readonly notify: (notifications: readonly Notification[]) => void
  /** The same once a transaction of the user has committed. */
  readonly notifyAfterCommit: (xid: string, notifications: readonly Notification[]) => void
  /** The same by a ring that follows a statement; null when it is to be rung afterwards. */
  readonly notifyAlong: (notifications: readonly Notification[]) => NotifyAlong | null
  /** For whom elsewhere a job is, if somebody has offered. */
  readonly handOver: (job: NewJob) => HandOver | undefined
  /** What this handle has met so far, and looks for from then on. */
  readonly met: { limited: boolean }
  /** Where claims begin to look. */
  readonly floors: Floors
  /** The same for looks at whether anything at all is ready, of whatever kind. */
  readonly heads: Floors
  readonly due: DueFloor
  /** Says that a claim is about to look at these queues, so that rings from before it count as heard. */
  readonly heard: (queues: readonly string[]) => void
}

/** The parameter of a statement: `fields` is JSON text without its braces, `now` is added for tests. */
function parameter(context: Context, fields: string): string[] {
  const now = context.clock === undefined ? 'null' : String(context.clock())
  return [fields === '' ? `{"now":${now}}` : `{"now":${now},${fields}}`]
}

/** Runs one of our statements through any `query`: the pool's, a transaction's, or the user's. */
export function run(context: Context, query: Query, statement: string, fields: string): ReturnType<Query> {
  return query(context.sql(statement), parameter(context, fields))
}

/** Rows that a statement gathered into one column: JSON text, and null for none. */
export function listOf<T>(told: unknown): T[] {
  return typeof told === 'string' ? (JSON.parse(told) as T[]) : []
}
