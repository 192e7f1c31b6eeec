/** A user's transaction: any object with `query(text, values)`, or a function with the same signature. */
import { JobmillError, quote } from '../job/errors.ts'
import type { Query, Row } from './connection/connection.ts'

type Answer = readonly unknown[] | { readonly rows: readonly unknown[] }
type TxFunction = (text: string, values: unknown[]) => PromiseLike<Answer>

/** A `pg` client, or a function that runs a statement through the user's ORM. */
export type Tx = TxFunction | { query: TxFunction }

/**
 * The format of all our column names. A plugin that changes their case makes every row unreadable. Statements
 * of application tables quote names of another format.
 */
const COLUMN_NAME = /^[a-z_][a-z0-9_]*$/

export function txQuery(tx: Tx): Query {
  const send = sender(tx)
  return async (text, values) => {
    const answer: unknown = await send(text, [...values])
    const rows = hasRows(answer) ? answer.rows : answer
    if (!Array.isArray(rows) || !rows.every(isRow)) {
      throw new JobmillError('TX_INVALID', 'did not return rows', {
        field: 'tx',
        value: quote(answer),
        fix: 'Return an array of objects, or an object with rows, from query(text, values)',
      })
    }
    const renamed = rows
      .flatMap((row) => Object.keys(row))
      .find((name) => !COLUMN_NAME.test(name) && !text.includes(`"${name}"`))
    if (renamed === undefined) return rows
    throw new JobmillError('TX_INVALID', 'changed the column names', {
      field: 'tx',
      value: quote(renamed),
      fix: 'Return rows with unchanged column names, and disable plugins that change their case',
    })
  }
}

/** The error for a user-supplied function that ran another statement. Its rows say nothing about a job. */
export function notRun(): JobmillError {
  return new JobmillError('TX_INVALID', "did not run Jobmill's statement", {
    field: 'tx',
    fix: 'Pass a function that runs exactly the given text and values, and returns the rows',
  })
}

function sender(tx: unknown): TxFunction {
  if (typeof tx === 'function') return tx as TxFunction
  if (typeof tx === 'object' && tx !== null && 'query' in tx && typeof tx.query === 'function') {
    refusePgWithoutTransaction(tx)
    return tx.query.bind(tx) as TxFunction
  }
  throw new JobmillError('TX_INVALID', 'cannot run statements', {
    field: 'tx',
    value: quote(tx),
    fix: 'Pass a pg client with an open transaction, or a function (text, values) => rows',
  })
}

/**
 * pg objects reveal their type and transaction status. Without a transaction, a rollback would not remove the
 * jobs.
 */
function refusePgWithoutTransaction(tx: object): void {
  if ('totalCount' in tx && 'idleCount' in tx) {
    throw new JobmillError('TX_INVALID', 'is a pool, which runs each statement on any connection', {
      field: 'tx',
      fix: 'Get a client with pool.connect(), run BEGIN on it, and pass the client',
    })
  }
  if (!('getTransactionStatus' in tx) || typeof tx.getTransactionStatus !== 'function') return
  if ((tx as { getTransactionStatus: () => unknown }).getTransactionStatus() !== 'I') return
  throw new JobmillError('TX_INVALID', 'has no open transaction', {
    field: 'tx',
    fix: 'Run BEGIN on the same client first',
  })
}

function hasRows(answer: unknown): answer is { readonly rows: unknown } {
  return typeof answer === 'object' && answer !== null && 'rows' in answer
}

function isRow(row: unknown): row is Row {
  return typeof row === 'object' && row !== null && !Array.isArray(row)
}
