/** The file of an application's database, with what people gave it: made for whoever runs it alone. One that is there keeps the rights that it has. */
import { open } from 'node:fs/promises'

const OWNER_ALONE = 0o600

/** What cannot be made is told by whoever opens it. SQLite gives the files beside it the same rights. */
export async function makePrivate(file: string): Promise<void> {
  if (file === ':memory:') return
  await open(file, 'ax', OWNER_ALONE).then(
    (made) => made.close(),
    () => {},
  )
}
