/** Releases as tests load them: today's sources, or an earlier one from its bundle under test/fixtures/releases/. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type * as Entry from 'jobmill'
import type * as Postgres from 'jobmill/postgres'
import type * as Sqlite from 'jobmill/sqlite'

/** Where a store is, as a message to another process can say it. */
export interface Place {
  readonly store: 'sqlite' | 'postgres'
  /** A path, or a URL with the schema. */
  readonly at: string
  readonly schema?: string
}

/** Typed as today's: what a release did not have yet is undefined there. */
export interface Release {
  readonly entry: typeof Entry
  /** Loads only the driver that is asked for. */
  readonly storeAt: (place: Place) => Promise<Entry.Store<never>>
}

const fixtures = fileURLToPath(new URL('../fixtures/', import.meta.url))

export const RELEASES = join(fixtures, 'releases')
export const SCHEMAS = join(fixtures, 'schemas')

/** The numbers of the schemas that are kept, oldest first. A release is called by the schema that it made. */
export function keptSchemas(): number[] {
  if (!existsSync(SCHEMAS)) return []
  return readdirSync(SCHEMAS)
    .flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []))
    .toSorted((a, b) => a - b)
}

export async function today(): Promise<Release> {
  return release(await import('jobmill'), {
    sqlite: () => import('jobmill/sqlite'),
    postgres: () => import('jobmill/postgres'),
  })
}

/** One that is in this folder. */
export async function earlier(folder: string): Promise<Release> {
  const load = (name: string): Promise<unknown> => import(pathToFileURL(join(folder, `${name}.mjs`)).href)
  return release((await load('jobmill')) as Release['entry'], {
    sqlite: () => load('sqlite') as Promise<typeof Sqlite>,
    postgres: () => load('postgres') as Promise<typeof Postgres>,
  })
}

interface Stores {
  readonly sqlite: () => Promise<typeof Sqlite>
  readonly postgres: () => Promise<typeof Postgres>
}

function release(entry: Release['entry'], stores: Stores): Release {
  return {
    entry,
    async storeAt({ store, at, schema = 'jobmill' }) {
      if (store === 'sqlite') return (await stores.sqlite()).sqlite(at)
      return (await stores.postgres()).postgres(at, { schema })
    },
  }
}
