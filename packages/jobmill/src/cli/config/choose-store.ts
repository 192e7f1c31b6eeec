/**
 * Chooses the database: `--db`, else the store of the config, else DATABASE_URL (with the replica of
 * DATABASE_READ_URL), else jobs.db in the current directory.
 */
import { access } from 'node:fs/promises'
import type { Store, ToolStore } from '../../store/store.ts'
import { invalid } from '../program/invalid.ts'

const DEFAULT_FILE = 'jobs.db'

/**
 * Accepts `sqlite:jobs.db`, `jobs.db` and `postgres://…`, with an optional `?schema=`. Drivers are loaded on
 * demand. `field` names the source of the URL in errors.
 */
export async function storeAt(url: string, field = '--db'): Promise<ToolStore<never>> {
  if (isPostgres(url)) return postgresAt(url)
  if (/^[a-z][a-z+.-]+:\/\//i.test(url)) {
    // The message omits the URL, which may contain a password.
    const fix = 'Use postgres://user@host/database or sqlite:jobs.db'
    throw invalid(field, 'is not a supported database URL', fix)
  }
  const { sqlite } = await import('../../store-sqlite/sqlite.ts')
  return sqlite(url.replace(/^sqlite:/, ''))
}

const isPostgres = (url: string): boolean => /^postgres(?:ql)?:/.test(url)

async function postgresAt(url: string, more: { readonly readUrl?: string } = {}): Promise<ToolStore<never>> {
  const { postgres } = await import('../../store-postgres/postgres-store.ts')
  const [address, options] = addressOf(url)
  return postgres(address, { ...options, ...more })
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
  const readUrl = env['DATABASE_READ_URL']?.trim() ?? ''
  if (readUrl === '') return storeAt(url === '' ? DEFAULT_FILE : url, 'DATABASE_URL')
  if (!isPostgres(url)) {
    const fix = 'Set DATABASE_URL to the URL of the primary, or unset DATABASE_READ_URL'
    throw invalid('DATABASE_READ_URL', 'needs PostgreSQL', fix)
  }
  const { checkUrl } = await import('../../store-postgres/connection/server-address.ts')
  checkUrl(readUrl, 'DATABASE_READ_URL')
  return postgresAt(url, { readUrl })
}

/** Read-only commands must not create an empty database after a typo or in the wrong directory. */
export async function checkIsThere(url: string, field = '--db'): Promise<void> {
  const path = url.replace(/^sqlite:/, '')
  if (/^[a-z][a-z+.-]+:\/\//i.test(path) || path === ':memory:' || (await isThere(path))) return
  const fix =
    'Use an existing database, such as postgres://user@host/database or sqlite:jobs.db, or run jobmill db create'
  throw invalid(field, `file not found: ${path}`, fix)
}

export async function checkUsualIsThere(env: NodeJS.ProcessEnv): Promise<void> {
  const url = env['DATABASE_URL']?.trim() ?? ''
  if (url !== '') return checkIsThere(url, 'DATABASE_URL')
  if (await isThere(DEFAULT_FILE)) return
  const fix = 'Pass a database with --db or a config with --config'
  throw invalid('--db', 'no database found: no config, no DATABASE_URL and no jobs.db in this directory', fix)
}

export function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
