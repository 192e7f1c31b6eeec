/** Creates the database file so that only its owner can read it. An existing file keeps its permissions. */
import { open } from 'node:fs/promises'

const OWNER_ALONE = 0o600

/**
 * Ignores errors, because opening the database reports them. SQLite copies the permissions to its WAL files.
 */
export async function makePrivate(file: string): Promise<void> {
  if (file === ':memory:') return
  await open(file, 'ax', OWNER_ALONE).then(
    (made) => made.close(),
    () => {},
  )
}
