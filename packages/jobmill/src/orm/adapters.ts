/**
 * One adapter for each library. The types name only what an adapter calls, so that no library is imported.
 * An object that is no open transaction is refused: its statements would be committed on their own, so a
 * rollback would not remove the jobs.
 */
import { JobmillError, quote } from '../job/errors.ts'
import type { Tx } from '../store-postgres/tx.ts'
import type { SqliteTx } from '../store-sqlite/connection/handle.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- each library has types of its own for statements
type Statement = any
type Rows = readonly unknown[]

/** A function that runs one statement in the transaction. */
type TxFunction = Extract<Tx, (...args: never) => unknown>

interface DrizzlePostgres {
  execute(query: Statement): PromiseLike<unknown>
  rollback(): never
}
interface DrizzleSqlite {
  run(query: Statement): unknown
  rollback(): never
}

/**
 * Inside `db.transaction((trx) => …)` of Drizzle, on node-postgres, on postgres.js, or on better-sqlite3 for
 * a SQLite store.
 */
export function fromDrizzle(trx: DrizzlePostgres): TxFunction
export function fromDrizzle(trx: DrizzleSqlite): SqliteTx
export function fromDrizzle(trx: DrizzlePostgres | DrizzleSqlite): TxFunction | SqliteTx {
  if (!hasMethod(trx, 'rollback')) throw notOpen(trx, 'Pass the argument of db.transaction(async (trx) => …)')
  if (!('execute' in trx))
    return (trx as { readonly session?: { readonly client: SqliteTx } }).session?.client as SqliteTx
  return (text, values) => {
    // Drizzle asks a query for its SQL object, and that for its text.
    const query = { getSQL: () => query, toQuery: () => ({ sql: text, params: values }) }
    return trx.execute(query) as PromiseLike<Rows>
  }
}

interface KyselyTransaction {
  readonly isTransaction: boolean
  withoutPlugins(): { executeQuery(query: Statement): PromiseLike<{ readonly rows: Rows }> }
}

/**
 * Inside `db.transaction().execute(async (trx) => …)` of Kysely. For a SQLite store, also pass the
 * `database` of its `SqliteDialect`.
 */
export function fromKysely(trx: KyselyTransaction): TxFunction
export function fromKysely(trx: KyselyTransaction, database: SqliteTx): SqliteTx
export function fromKysely(trx: KyselyTransaction, database?: SqliteTx): TxFunction | SqliteTx {
  if (!isTrue(trx, 'isTransaction'))
    throw notOpen(trx, 'Pass the argument of db.transaction().execute(async (trx) => …)')
  if (database !== undefined) return database
  // Plugins such as CamelCasePlugin would rename the columns of the reply.
  const plain = trx.withoutPlugins()
  return (text, values) =>
    plain.executeQuery({
      sql: text,
      parameters: values,
      query: { kind: 'RawNode', sqlFragments: [text], parameters: [] },
      queryId: { queryId: 'jobmill' },
    })
}

interface PgClient {
  query(text: string, values: unknown[]): PromiseLike<{ readonly rows: Rows }>
}
interface KnexTransaction {
  readonly isTransaction?: boolean
  isCompleted(): boolean
  readonly client: { acquireConnection(): Promise<PgClient> }
}

/** Inside `knex.transaction(async (trx) => …)`. */
export function fromKnex(trx: KnexTransaction): TxFunction {
  const fix = 'Pass the argument of knex.transaction(async (trx) => …), before it ends'
  if (!isTrue(trx, 'isTransaction')) throw notOpen(trx, fix)
  return async (text, values) => {
    if (trx.isCompleted()) throw notOpen(trx, fix)
    // The connection of the transaction: trx.raw() would replace each question mark in the statement.
    const client = await trx.client.acquireConnection()
    return client.query(text, values)
  }
}

interface TypeormRunner {
  readonly isTransactionActive: boolean
  query(text: string, values: unknown[], isStructured: true): Promise<{ readonly records: Rows }>
}

/** Inside `dataSource.transaction(async (manager) => …)`, or a `QueryRunner` after `startTransaction()`. */
export function fromTypeorm(manager: { readonly queryRunner?: Statement } | TypeormRunner): TxFunction {
  const runner = ('queryRunner' in Object(manager) ? Reflect.get(manager, 'queryRunner') : manager) as
    | TypeormRunner
    | undefined
  const fix = 'Pass the argument of dataSource.transaction(async (manager) => …), before it ends'
  return async (text, values) => {
    if (runner?.isTransactionActive !== true) throw notOpen(manager, fix)
    return (await runner.query(text, values, true)).records
  }
}

interface PostgresJsTransaction {
  unsafe(text: string, values: Statement): PromiseLike<Rows>
  savepoint(...args: Statement): unknown
}

/** Inside `sql.begin(async (trx) => …)` of postgres.js. */
export function fromPostgresJs(trx: PostgresJsTransaction): TxFunction {
  if (!hasMethod(trx, 'savepoint')) throw notOpen(trx, 'Pass the argument of sql.begin(async (trx) => …)')
  return (text, values) => trx.unsafe(text, values)
}

/** Also for callers in JavaScript, who may pass anything. */
function isTrue(trx: unknown, property: string): boolean {
  return Reflect.get(Object(trx), property) === true
}

/** A database handle lacks the methods of a transaction. */
function hasMethod(trx: unknown, method: string): boolean {
  return typeof Reflect.get(Object(trx), method) === 'function'
}

function notOpen(trx: unknown, fix: string): JobmillError {
  // The keys of a handle say nothing.
  const value = Object(trx) === trx ? {} : { value: quote(trx) }
  return new JobmillError('TX_INVALID', 'is not an open transaction', { field: 'tx', ...value, fix })
}
