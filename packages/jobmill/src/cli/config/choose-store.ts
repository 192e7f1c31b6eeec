/**
 * Chooses the database: `--db`, else the store of the config, else DATABASE_URL, else jobs.db in the
 * current directory.
 */
import { access } from 'node:fs/promises'
import { JobmillError } from '../../job/errors.ts'
import type { Store, ToolStore } from '../../store/store.ts'

const DEFAULT_FILE = 'jobs.db'

/**
 * Accepts `sqlite:jobs.db`, `jobs.db` and `postgres://…`, with an optional `?schema=`. Drivers are loaded on
 * demand. `field` names the source of the URL in errors.
 */
export async function storeAt(url: string, field = '--db'): Promise<ToolStore<never>> {
  if (/^postgres(?:ql)?:/.test(url)) {
    const { postgres } = await import('../../store-postgres/postgres-store.ts')
    return postgres(...addressOf(url))
  }
  if (/^[a-z][a-z+.-]+:\/\//i.test(url)) {
    // The message omits the URL, which may contain a password.
    throw new JobmillError('OPTION_INVALID', 'is not a supported database URL', {
      field,
      fix: 'Use postgres://user@host/database or sqlite:jobs.db',
    })
  }
  const { sqlite } = await import('../../store-sqlite/sqlite.ts')
  return sqlite(url.replace(/^sqlite:/, ''))
}

/** Removes `?schema=` from the URL: it is an option of Jobmill, not of the driver. */
function addressOf(url: string): [url: string, options: { readonly schema?: string }] {
  const schema = URL.canParse(url) ? new URL(url).searchParams.get('schema') : null
  if (schema === null) return [url, {}]
  const address = new URL(url)
  address.searchParams.delete('schema')
  return [address.href, { schema }]
}

/** The store for a config that does not define one. */
export async function usualStore(env: NodeJS.ProcessEnv): Promise<Store<never>> {
  const url = env['DATABASE_URL']?.trim() ?? ''
  return storeAt(url === '' ? DEFAULT_FILE : url, 'DATABASE_URL')
}

/** Read-only commands must not create an empty database after a typo or in the wrong directory. */
export async function checkIsThere(url: string, field = '--db'): Promise<void> {
  const path = url.replace(/^sqlite:/, '')
  if (/^[a-z][a-z+.-]+:\/\//i.test(path) || path === ':memory:' || (await isThere(path))) return
  throw new JobmillError('OPTION_INVALID', `file not found: ${path}`, {
    field,
    fix: 'Use an existing database, such as postgres://user@host/database or sqlite:jobs.db, or run jobmill db create',
  })
}

export async function checkUsualIsThere(env: NodeJS.ProcessEnv): Promise<void> {
  const url = env['DATABASE_URL']?.trim() ?? ''
  if (url !== '') return checkIsThere(url, 'DATABASE_URL')
  if (await isThere(DEFAULT_FILE)) return
  throw new JobmillError(
    'OPTION_INVALID',
    'no database found: no config, no DATABASE_URL and no jobs.db in this directory',
    {
      field: '--db',
      fix: 'Pass a database with --db or a config with --config',
    },
  )
}

export function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
