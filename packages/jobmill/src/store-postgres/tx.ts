/** A user's transaction: any object with `query(text, values)`, or a function with the same signature. */
import { JobmillError, quote } from '../job/errors.ts'
import type { Query, Row } from './connection/connection.ts'
import { codeOf } from './connection/errors.ts'

type Answer = readonly unknown[] | { readonly rows: readonly unknown[] }
type TxFunction = (text: string, values: unknown[]) => PromiseLike<Answer>

/** A `pg` client, or a function that runs a statement through the user's ORM. */
export type Tx = TxFunction | { query: TxFunction }

const ABORTED = '25P02'

const RETURN_ROWS = 'Return an array of objects, or an object with rows, from query(text, values)'
const KEEP_NAMES = 'Return rows with unchanged column names, and disable plugins that change their case'

/**
 * The format of all our column names. A plugin that changes their case makes every row unreadable. Statements
 * of application tables quote names of another format.
 */
const COLUMN_NAME = /^[a-z_][a-z0-9_]*$/

export function txQuery(tx: Tx): Query {
  const send = sender(tx)
  return async (text, values) => {
    const answer = await answerOf(() => send(text, [...values]))
    const rows = hasRows(answer) ? answer.rows : answer
    if (!Array.isArray(rows) || !rows.every(isRow)) {
      throw invalid('did not return rows', RETURN_ROWS, { value: quote(answer) })
    }
    const renamed = rows
      .flatMap((row) => Object.keys(row))
      .find((name) => !COLUMN_NAME.test(name) && !text.includes(`"${name}"`))
    if (renamed === undefined) return rows
    throw invalid('changed the column names', KEEP_NAMES, { value: quote(renamed) })
  }
}

async function answerOf(send: () => PromiseLike<unknown>): Promise<unknown> {
  try {
    return await send()
  } catch (error) {
    if (codeOf(error) !== ABORTED) throw error
    const fix = 'Find and fix the first error in the transaction, roll back, and run it again'
    throw invalid('was aborted by an earlier error', fix, { cause: error })
  }
}

/** The error for a function of the user that ran another statement, whose rows say nothing about a job. */
export function notRun(): JobmillError {
  const fix = 'Pass a function that runs exactly the given text and values, and returns the rows'
  return invalid("did not run Jobmill's statement, or did not return its rows", fix)
}

function sender(tx: unknown): TxFunction {
  if (typeof tx === 'function') return tx as TxFunction
  if (typeof tx === 'object' && tx !== null && 'query' in tx && typeof tx.query === 'function') {
    refusePgWithoutTransaction(tx)
    return tx.query.bind(tx) as TxFunction
  }
  const fix = 'Pass a pg client with an open transaction, or a function (text, values) => rows'
  throw invalid('cannot run statements', fix, { value: quote(tx) })
}

/**
 * pg objects reveal their type and transaction status. Without a transaction, a rollback would not remove the
 * jobs.
 */
function refusePgWithoutTransaction(tx: object): void {
  if ('totalCount' in tx && 'idleCount' in tx) {
    const fix = 'Get a client with pool.connect(), run BEGIN on it, and pass the client'
    throw invalid('is a pool, which runs each statement on any connection', fix)
  }
  if (!('getTransactionStatus' in tx) || typeof tx.getTransactionStatus !== 'function') return
  if ((tx as { getTransactionStatus: () => unknown }).getTransactionStatus() !== 'I') return
  throw invalid('has no open transaction', 'Run BEGIN on the same client first')
}

function hasRows(answer: unknown): answer is { readonly rows: unknown } {
  return typeof answer === 'object' && answer !== null && 'rows' in answer
}

function isRow(row: unknown): row is Row {
  return typeof row === 'object' && row !== null && !Array.isArray(row)
}

function invalid(
  what: string,
  fix: string,
  more: { readonly value?: string; readonly cause?: unknown } = {},
): JobmillError {
  return new JobmillError('TX_INVALID', what, { field: 'tx', fix, ...more })
}
