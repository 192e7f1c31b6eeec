/** The location of a store, in a form that can be sent to another process. */
import type { FullStore } from '../../src/store/store.ts'

export interface Place {
  readonly store: 'sqlite' | 'postgres'
  /** A path, or a URL with the schema. */
  readonly at: string
  readonly schema?: string
}

/** Loads only the requested driver, since many processes start in these tests. */
export async function storeAt({ store, at, schema = 'jobmill' }: Place): Promise<FullStore> {
  if (store === 'sqlite') return (await import('../../src/sqlite.ts')).sqlite(at)
  return (await import('../../src/postgres.ts')).postgres(at, { schema })
}
