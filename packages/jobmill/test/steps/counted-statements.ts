/** Records the statements that the stores of this process send, on both databases. */
import Database from 'better-sqlite3'
import pg from 'pg'
import { onTestFinished, vi } from 'vitest'

export interface CountedStatements {
  /** Their texts, in order. */
  readonly texts: string[]
}

/** From now on, until the end of the test. On SQLite, call it before the store opens. */
export function countStatements(): CountedStatements {
  const texts: string[] = []
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its own client below
  const query = pg.Client.prototype.query as (this: pg.Client, ...values: unknown[]) => unknown
  const onServer = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
    this: pg.Client,
    ...values: unknown[]
  ) {
    const [first] = values
    texts.push(typeof first === 'string' ? first : (first as { readonly text: string }).text)
    return query.apply(this, values)
  })
  const prepare = Object.getOwnPropertyDescriptor(Database.prototype, 'prepare')?.value as (
    text: string,
  ) => Database.Statement
  const inFile = vi.spyOn(Database.prototype, 'prepare').mockImplementation(function (
    this: unknown,
    text: string,
  ) {
    const statement = prepare.call(this, text)
    for (const way of ['run', 'get', 'all'] as const) {
      const call = statement[way].bind(statement)
      Object.assign(statement, { [way]: (...values: unknown[]) => (texts.push(text), call(...values)) })
    }
    return statement
  })
  onTestFinished(() => {
    onServer.mockRestore()
    inFile.mockRestore()
  })
  return { texts }
}
