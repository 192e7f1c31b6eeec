/** Where a database is, by the address that people write: the same for the jobs and for the tables beside them. */
import { JobmillError, type Store } from 'jobmill'

export type Place =
  | { readonly type: 'sqlite'; readonly file: string }
  | { readonly type: 'postgres'; readonly url: string; readonly schema: string }

const DEFAULT_SCHEMA = 'jobmill'

/** `jobs.db`, `sqlite:jobs.db`, `postgres://…`, with `?schema=` where it is not the usual one. */
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

/** What the driver says when the database cannot be had, in the words of the mill. `sent`: the server may have seen a statement. */
export type ErrorOf = (error: unknown, sent?: boolean) => unknown

/** The driver that is not needed is not loaded. */
export async function storeAt(
  place: Place,
  options: { readonly clock?: () => number },
): Promise<{ readonly store: Store<never>; readonly errorOf: ErrorOf }> {
  if (place.type === 'sqlite') {
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
  // Not shown: it may have a password in it.
  return new JobmillError('OPTION_INVALID', 'is the address of no database that we know', {
    field: 'database',
    fix: 'Give postgres://user@host/database or the path of a file',
  })
}
