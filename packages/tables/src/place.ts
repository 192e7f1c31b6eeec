/** Parses a database URL or file name. Jobs and application tables share the same format. */
import { open } from 'node:fs/promises'
import { JobmillError, type Store } from 'jobmill'

export type Place =
  | { readonly type: 'sqlite'; readonly file: string }
  | { readonly type: 'postgres'; readonly url: string; readonly schema: string }

const DEFAULT_SCHEMA = 'jobmill'

/** Accepts `jobs.db`, `sqlite:jobs.db` and `postgres://…`, with an optional `?schema=`. */
export function placeOf(address: string): Place {
  if (/^postgres(?:ql)?:/.test(address)) {
    if (!URL.canParse(address)) throw unknown()
    const url = new URL(address)
    const schema = url.searchParams.get('schema') ?? DEFAULT_SCHEMA
    url.searchParams.delete('schema')
    return { type: 'postgres', url: url.href, schema }
  }
  if (/^[a-z][a-z+.-]+:\/\//i.test(address)) throw unknown()
  return { type: 'sqlite', file: address.replace(/^sqlite:/, '') }
}

/** Turns a driver error into a JobmillError. `sent`: the server may have received the statement. */
export type ErrorOf = (error: unknown, sent?: boolean) => unknown

/** Imports only the driver that the address needs. */
export async function storeAt(
  place: Place,
  options: { readonly clock?: () => number },
): Promise<{ readonly store: Store<never>; readonly errorOf: ErrorOf }> {
  if (place.type === 'sqlite') {
    await makePrivate(place.file)
    const { sqlite, sqliteError } = await import('jobmill/sqlite')
    return { store: sqlite(place.file, options), errorOf: (error) => sqliteError(error, place.file) }
  }
  const { postgres, postgresError } = await import('jobmill/postgres')
  return {
    store: postgres(place.url, { schema: place.schema, ...options }),
    errorOf: (error, sent = false) => postgresError(error, { sent }),
  }
}

function unknown(): JobmillError {
  // The value is left out because it may contain a password.
  return new JobmillError('OPTION_INVALID', 'must be a PostgreSQL URL or a SQLite file', {
    field: 'database',
    fix: 'Use postgres://user@host/database or a file path',
  })
}

const OWNER_ALONE = 0o600

/**
 * Creates the database file so that only its owner can read it. An existing file keeps its permissions.
 * Ignores errors, because opening the database reports them. SQLite copies the permissions to its WAL files.
 */
async function makePrivate(file: string): Promise<void> {
  if (file === ':memory:') return
  await open(file, 'ax', OWNER_ALONE).then(
    (made) => made.close(),
    () => {},
  )
}
