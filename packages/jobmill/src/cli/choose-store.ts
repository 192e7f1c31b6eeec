/** Which database is meant: the one that is named, else that of the config, else DATABASE_URL, else a file of this folder. */
import { access } from 'node:fs/promises'
import { JobmillError } from '../job/errors.ts'
import type { Store, ToolStore } from '../store/store.ts'

const DEFAULT_FILE = 'jobmill.db'

/** `sqlite:jobs.db`, `jobs.db`, `postgres://…`, with `?schema=` where it is not the usual one. The drivers are loaded only when they are needed. */
export async function storeAt(url: string): Promise<ToolStore<never>> {
  if (/^postgres(?:ql)?:/.test(url)) {
    const { postgres } = await import('../store-postgres/postgres-store.ts')
    return postgres(...addressOf(url))
  }
  if (/^[a-z][a-z+.-]+:\/\//i.test(url)) {
    // Not shown: it may have a password in it.
    throw new JobmillError('OPTION_INVALID', 'is the address of no database that we know', {
      field: '--db',
      fix: 'Give postgres://user@host/database or sqlite:jobs.db',
    })
  }
  const { sqlite } = await import('../store-sqlite/sqlite.ts')
  return sqlite(url.replace(/^sqlite:/, ''))
}

/** The schema stands in the address for us, and is none of the driver's business. */
function addressOf(url: string): [url: string, options: { readonly schema?: string }] {
  const schema = URL.canParse(url) ? new URL(url).searchParams.get('schema') : null
  if (schema === null) return [url, {}]
  const address = new URL(url)
  address.searchParams.delete('schema')
  return [address.href, { schema }]
}

/** For a config without a store. */
export async function usualStore(env: NodeJS.ProcessEnv): Promise<Store<never>> {
  const url = env['DATABASE_URL']?.trim() ?? ''
  return storeAt(url === '' ? DEFAULT_FILE : url)
}

/** A command that only looks must not make an empty database where somebody is in the wrong folder, or has mistyped its name. */
export async function checkIsThere(url: string, field = '--db'): Promise<void> {
  const path = url.replace(/^sqlite:/, '')
  if (/^[a-z][a-z+.-]+:\/\//i.test(path) || path === ':memory:' || (await isThere(path))) return
  throw new JobmillError('OPTION_INVALID', `there is no file ${path}`, {
    field,
    fix: 'Name a database that is there, such as postgres://user@host/database or sqlite:jobs.db; jobmill db create makes one',
  })
}

export async function checkUsualIsThere(env: NodeJS.ProcessEnv): Promise<void> {
  const url = env['DATABASE_URL']?.trim() ?? ''
  if (url !== '') return checkIsThere(url, 'DATABASE_URL')
  if (await isThere(DEFAULT_FILE)) return
  throw new JobmillError('OPTION_INVALID', 'there is no config here, no DATABASE_URL and no jobmill.db', {
    field: '--db',
    fix: 'Name a database with --db or a config with --config',
  })
}

export function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
