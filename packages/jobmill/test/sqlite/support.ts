// What the tests of the SQLite store share: stores that are closed at the end.
import { afterEach } from 'vitest'
import { freshFile } from '../../../../test/support/databases.ts'
import { sqlite, type SqliteTx, type SqliteOptions } from '../../src/sqlite.ts'
import type { Store } from '../../src/store/store.ts'

const stores: Store<SqliteTx>[] = []

afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()))
})

export { freshFile }

export async function openStore(
  path: string = freshFile(),
  options?: SqliteOptions,
): Promise<Store<SqliteTx>> {
  const store = sqlite(path, options)
  stores.push(store)
  await store.open()
  return store
}
