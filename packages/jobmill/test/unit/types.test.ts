/** Types that users rely on: the compiler checks these lines, and they run once. */
import { DatabaseSync } from 'node:sqlite'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import type { Store } from '../../src/index.ts'
import { type Enqueuer, enqueuer } from '../../src/internal.ts'
import { postgres, type Tx } from '../../src/postgres.ts'
import { sqlite, type SqliteTx } from '../../src/sqlite.ts'

test('the store can be chosen at run time, and an enqueuer accepts the transactions of either', () => {
  const stores = [sqlite('types.db'), postgres('postgres://localhost/app')] as const
  const store = stores[process.argv.length % 2] ?? stores[0]
  const either: Enqueuer<SqliteTx | Tx> = enqueuer(store)
  const one: Enqueuer<SqliteTx> = enqueuer(stores[0])
  const any: Store = store
  expect([either, one, any]).toHaveLength(3)
})

test('D10 a handle of better-sqlite3 is a transaction of the SQLite store; one of node:sqlite is not', () => {
  const better = new Database(':memory:')
  const builtIn = new DatabaseSync(':memory:')
  // @ts-expect-error node:sqlite is another copy of SQLite
  const handles: SqliteTx[] = [better, builtIn]
  expect(handles).toHaveLength(2)
  better.close()
  builtIn.close()
})
