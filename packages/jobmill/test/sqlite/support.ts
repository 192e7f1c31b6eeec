// Shared by the tests of the SQLite store: stores that are closed at the end.
import { symlinkSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import { freshFile } from '../../../../test/support/databases.ts'
import { sqlite, type SqliteTx, type SqliteOptions } from '../../src/sqlite.ts'
import type { FullStore } from '../../src/store/store.ts'

export { freshFile }

/** A symbolic link to the file, in another folder. SQLite puts the logs next to the file, not to the link. */
export function linkTo(file: string): string {
  const link = freshFile()
  symlinkSync(file, link)
  return link
}

export async function openStore(
  path: string = freshFile(),
  options?: SqliteOptions,
): Promise<FullStore<SqliteTx>> {
  const store = sqlite(path, options)
  onTestFinished(() => store.close())
  await store.open()
  return store
}
