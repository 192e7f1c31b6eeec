/** The file of a database, with what people wrote in it: made for whoever runs the gateway alone. One that is there keeps the rights that it has. */
import { open } from 'node:fs/promises'
import { placeOf } from 'jobmill-tables'

const OWNER_ALONE = 0o600

/** What cannot be made is told by whoever opens it. SQLite gives the files beside it the same rights. */
export async function makePrivate(database: string): Promise<void> {
  const place = placeOf(database)
  if (place.type !== 'sqlite' || place.file === ':memory:') return
  await open(place.file, 'ax', OWNER_ALONE).then(
    (file) => file.close(),
    () => {},
  )
}
