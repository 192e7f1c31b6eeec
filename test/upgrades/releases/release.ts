/** Loads releases for tests: the current sources, or the bundle of another release. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type * as Entry from 'jobmill'
import type * as Postgres from 'jobmill/postgres'
import type * as Sqlite from 'jobmill/sqlite'
import type * as Contract from 'jobmill/store'

/** The location of a store, in a form that can be sent to another process. */
export interface Place {
  readonly store: 'sqlite' | 'postgres'
  /** A path, or a URL with the schema. */
  readonly at: string
  readonly schema?: string
}

/** Typed like the current release. */
export interface Release {
  readonly entry: typeof Entry & typeof Contract
  /** Loads only the requested driver. */
  readonly storeAt: (place: Place) => Promise<Entry.FullStore<never>>
}

/** A folder for each release: a database of each store and, once the release is published, its code. */
export const RELEASES = fileURLToPath(new URL('../../fixtures/releases/', import.meta.url))

/** The stored versions, oldest first. */
export function listReleases(): string[] {
  return readdirSync(RELEASES)
    .filter((name) => /^\d+\.\d+\.\d+$/.test(name))
    .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
}

/** The code that made the database of a stored release. An unpublished release uses the current code. */
export function loadRelease(version: string): Promise<Release> {
  const code = join(RELEASES, version, 'code')
  return existsSync(code) ? loadBundle(code) : loadCurrent()
}

export async function loadCurrent(): Promise<Release> {
  const entry = { ...(await import('jobmill')), ...(await import('jobmill/store')) }
  return makeRelease(entry, {
    sqlite: () => import('jobmill/sqlite'),
    postgres: () => import('jobmill/postgres'),
  })
}

/** The release whose bundle is in this folder. */
export async function loadBundle(folder: string): Promise<Release> {
  const load = (name: string): Promise<unknown> => import(pathToFileURL(join(folder, `${name}.mjs`)).href)
  const entry = Object.assign({}, await load('jobmill'), await load('store')) as Release['entry']
  return makeRelease(entry, {
    sqlite: () => load('sqlite') as Promise<typeof Sqlite>,
    postgres: () => load('postgres') as Promise<typeof Postgres>,
  })
}

interface Stores {
  readonly sqlite: () => Promise<typeof Sqlite>
  readonly postgres: () => Promise<typeof Postgres>
}

function makeRelease(entry: Release['entry'], stores: Stores): Release {
  return {
    entry,
    async storeAt({ store, at, schema = 'jobmill' }) {
      if (store === 'sqlite') return (await stores.sqlite()).sqlite(at)
      return (await stores.postgres()).postgres(at, { schema })
    },
  }
}
