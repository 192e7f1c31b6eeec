/** The dependencies of every verb of this store: the connection, the name map and the notifier. */
import type { NewJob } from '../job/new-job.ts'
import type { Platform } from '../platform/platform.ts'
import type { Notification } from './notifier/notify-message.ts'
import type { Connection, Query } from './connection/connection.ts'
import type { NotifyAlong } from './notifier/notifier.ts'
import type { DueFloor } from './claim/due-floor.ts'
import type { Floors } from './claim/floors.ts'
import type { HandOver } from './notifier/hand-over.ts'
import type { Names } from './names/names.ts'

export interface Context {
  readonly connection: Connection
  readonly names: Names
  /** The statements run in a user's transaction, which an error would abort. */
  readonly isUserTransaction?: true
  readonly platform: Platform
  /** For tests: replaces the database's time. */
  readonly clock: (() => number) | undefined
  /** Rewrites a statement for the schema `jobmill` to the schema of this store. */
  readonly sql: (text: string) => string
  /** Notifies waiting instances in all processes that these queues have work. */
  readonly notify: (notifications: readonly Notification[]) => void
  /** Notifies after a user's transaction has committed. */
  readonly notifyAfterCommit: (xid: string, notifications: readonly Notification[]) => void
  /** Notifies with a statement that follows another one; null if the caller must notify afterward. */
  readonly notifyAlong: (notifications: readonly Notification[]) => NotifyAlong | null
  /** Uses up an idle worker offer of another process for this job, if there is one. */
  readonly handOver: (job: NewJob) => HandOver | undefined
  /** Features that this handle has seen in use. Its later statements include them. */
  readonly met: { limited: boolean }
  /** Scan cursors of claims. */
  readonly floors: Floors
  /** Scan cursors for checks whether any job is ready, of any kind. */
  readonly heads: Floors
  readonly due: DueFloor
  /** Announces a claim of these queues, so that earlier notifications count as received. */
  readonly forgetNotifications: (queues: readonly string[]) => void
}

/** The parameter of a statement: `fields` is JSON text without its braces, `now` is added for tests. */
function parameter(context: Context, fields: string): string[] {
  const now = context.clock === undefined ? 'null' : String(context.clock())
  return [fields === '' ? `{"now":${now}}` : `{"now":${now},${fields}}`]
}

/** Runs a statement through any `query`: the pool's, a transaction's, or the user's. */
export function run(context: Context, query: Query, statement: string, fields: string): ReturnType<Query> {
  return query(context.sql(statement), parameter(context, fields))
}

/** Parses rows that a statement aggregated into one column: JSON text, null for none. */
export function listOf<T>(text: unknown): T[] {
  return typeof text === 'string' ? (JSON.parse(text) as T[]) : []
}
