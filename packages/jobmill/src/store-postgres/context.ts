/**
 * The dependencies of every verb of this store, such as the connection, the name map and the notifier, and
 * the functions with which verbs send statements.
 */
import type { Platform } from '../platform/platform.ts'
import { columnOf } from '../store/column-of.ts'
import { type Connection, type Query, recordsOf, type Row } from './connection/connection.ts'
import type { DueCursor } from './claim/due-cursor.ts'
import type { Batches } from './claim/batches.ts'
import type { KnownRows } from './steps/known-rows.ts'
import type { ScanCursors } from './claim/scan-cursors.ts'
import type { CommitWatch } from './notifier/commit-watch.ts'
import type { PostgresNotifier } from './notifier/notifier.ts'
import type { Names } from './names/names.ts'

/** The first place of a group as text, the jobs that it had in this lap, and the number of the lap. */
export type FairTurn = readonly [string, number, number]

export interface Context {
  /** In a transaction (`inTransaction`), sends all statements in it. */
  readonly connection: Connection
  readonly names: Names
  /** The statements run in a user's transaction, which an error would abort. */
  readonly isUserTransaction?: true
  readonly platform: Platform
  /** For tests: replaces the database's time. */
  readonly clock: (() => number) | undefined
  /** Rewrites a statement for the schema `jobmill` to the schema of this store. */
  readonly sql: (text: string) => string
  readonly notifier: PostgresNotifier
  /** Notifies after a user's transaction has committed. */
  readonly commits: CommitWatch
  /** Scan cursors of claims. */
  readonly claimCursors: ScanCursors
  /** Scan cursors for checks whether any job is ready, of any kind. */
  readonly readyCursors: ScanCursors
  readonly due: DueCursor
  /** Where the next claim of each fair queue continues. */
  readonly fairTurns: Map<string, FairTurn>
  readonly batches: Batches
  readonly withSteps: KnownRows
  /** Drops notifications of these queues. Called before a claim, which finds the jobs of all earlier ones. */
  readonly forgetNotifications: (queues: readonly string[]) => void
}

/** The one parameter of a statement, as JSON. `now` is added for tests. */
function parameter({ clock }: Context, fields: object | string): string {
  const text = typeof fields === 'string' ? fields : JSON.stringify(fields).slice(1, -1)
  return `{"now":${clock?.() ?? null}${text === '' ? '' : `,${text}`}}`
}

/**
 * Runs a statement through any `query`: the pool's, a transaction's, or the user's. `fields` are those of the
 * parameter, or their JSON text without braces. `T` names the columns of the rows.
 */
export async function run<T extends object = Row>(
  context: Context,
  query: Query,
  statement: string,
  fields: object | string,
): Promise<T[]> {
  return recordsOf(await query(context.sql(statement), [parameter(context, fields)]))
}

/** Runs a statement on the connection of the context. */
export function ask<T extends object = Row>(
  context: Context,
  statement: string,
  fields: object | string = {},
): Promise<T[]> {
  return run<T>(context, context.connection.query, statement, fields)
}

/** Runs a statement with parameters of its own on the connection of the context. */
export async function askWith<T extends object = Row>(
  { connection, sql }: Context,
  statement: string,
  values: readonly unknown[] = [],
): Promise<T[]> {
  return recordsOf(await connection.query(sql(statement), values))
}

/** For a statement that always returns one row. */
export async function askOne<T extends object>(
  context: Context,
  statement: string,
  fields: object | string = {},
): Promise<T> {
  const [row] = await ask<T>(context, statement, fields)
  return row as T
}

/** Runs `work` in a transaction, with a context that sends all statements in it. */
export function inTransaction<T>(context: Context, work: (inside: Context) => Promise<T>): Promise<T> {
  const { connection } = context
  return connection.transaction((query) => {
    const tuples: Connection['tuples'] = async (text, values) =>
      (await query(text, values)).map((row) => Object.values(row))
    const transaction: Connection['transaction'] = (more) => more(query)
    return work({ ...context, connection: { ...connection, query, prepared: query, tuples, transaction } })
  })
}

/** A record with the names of columns. */
export function columnsOf(record: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).map(([field, value]) => [columnOf(field), value as unknown]),
  )
}

/** Parses rows that a statement aggregated into one column: JSON text, null for none. */
export function listOf<T>(text: unknown): T[] {
  return typeof text === 'string' ? (JSON.parse(text) as T[]) : []
}
