/** Reads the addresses of the config: listen address, public URL, Telegram API root and database. */
import { isIPv6 } from 'node:net'
import { isJobmillError } from 'jobmill'
import { placeOf } from 'jobmill-tables'
import type { Address } from './config.ts'
import { type Problems, typeOf } from './problems.ts'
import { type SettingValue, readValue } from './read-value.ts'
import type { Section } from './section.ts'
import type { Env } from './secrets.ts'

const DEFAULT_FILE = 'telegram.db'
const TELEGRAM = 'https://api.telegram.org'
const LAST_PORT = 65_535
/** The ports that Telegram supports. The URL class reports a default port as an empty string. */
const PORTS = new Set(['', '443', '80', '88', '8443'])

/**
 * Accepts `host:port`, `[::1]:port` (IPv6), `:port` (all addresses of this machine) or `port` (the default
 * host).
 */
export function addressOf({ value, place }: SettingValue, otherwise: Address, found: Problems): Address {
  if (value === undefined) return otherwise
  const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : ''
  const match = /^(?:(.*):)?(\d+)$/.exec(text)
  const port = Number(match?.[2] ?? Number.NaN)
  const host = match?.[1] === undefined ? otherwise.host : hostOf(match[1])
  const example = `Write host:port, such as ${otherwise.host}:${otherwise.port}`
  if (match === null || host === null)
    found.error(place, `must be an address (got ${typeOf(value)})`, example)
  else if (port > LAST_PORT)
    found.error(place, `must have a port of at most ${LAST_PORT} (got ${match[2]})`, example)
  else return { host, port }
  return otherwise
}

/** Node listens on an IPv6 address without its brackets. Null if the brackets contain anything else. */
function hostOf(text: string): string | null {
  if (!/[[\]]/.test(text)) return text || '0.0.0.0'
  const inside = /^\[(.*)\]$/.exec(text)?.[1] ?? ''
  return isIPv6(inside) ? inside : null
}

export function publicUrlOf(root: Section, env: Env, found: Problems): string | null {
  const { value, place } = readValue(root, 'publicUrl', env, 'PUBLIC_URL')
  if (value === undefined) return null
  const url = httpUrl(value)
  if (url === null) {
    found.error(
      place,
      'must be an http or https URL',
      'Write the URL that Telegram can reach, such as https://tg.example.org',
    )
    return null
  }
  refuseSecrets(url, place, found)
  const { port } = new URL(url)
  if (!PORTS.has(port))
    found.warn(place, `has port ${port}, which Telegram does not support`, 'Use 443, 80, 88 or 8443')
  if (url.startsWith('http:'))
    found.warn(place, 'is not https, which Telegram requires', 'Write https://…, on port 443, 80, 88 or 8443')
  return url.replace(/\/+$/, '')
}

export function apiRootOf(root: Section, env: Env, found: Problems): string {
  const { value = TELEGRAM, place } = readValue(root, 'apiRoot', env, 'TELEGRAM_API_ROOT')
  const url = httpUrl(value)
  if (url === null) found.error(place, 'must be an http or https URL', `Write ${TELEGRAM}, or omit it`)
  else refuseSecrets(url, place, found)
  return (url ?? TELEGRAM).replace(/\/+$/, '')
}

/**
 * Refuses credentials and a query, because they would appear in log lines and paths are appended. Messages
 * never repeat a URL: even a mistyped one may contain a secret.
 */
function refuseSecrets(url: string, place: string, found: Problems): void {
  const { username, password, search, hash } = new URL(url)
  if (username !== '' || password !== '')
    found.error(place, 'must not contain a user name or password', 'Remove the part between // and @')
  if (search !== '' || hash !== '')
    found.error(place, 'must not have a query or a fragment', 'Remove the query and the fragment')
}

function httpUrl(value: unknown): string | null {
  if (typeof value !== 'string' || !URL.canParse(value)) return null
  return /^https?:$/.test(new URL(value).protocol) ? value : null
}

/** Null for `none`. Messages do not repeat the address, because it may contain a password. */
export function databaseOf(root: Section, env: Env, found: Problems): string | null {
  const { value = DEFAULT_FILE, place } = readValue(root, 'store', env, 'DATABASE_URL')
  if (root.get('store') === 'none') {
    if (value !== 'none')
      found.error(root.at('store'), 'is none, but DATABASE_URL is set', 'Remove one of the two')
    return null
  }
  if (value === 'none') {
    found.error(place, 'must not be none', 'Unset it, and write store: none in the config')
    return null
  }
  if (typeof value !== 'string' || value.trim() === '') {
    found.error(
      place,
      'must be a SQLite file, a PostgreSQL URL or none',
      'Write the path of a file, or set DATABASE_URL',
    )
    return DEFAULT_FILE
  }
  if (place !== 'DATABASE_URL' && /^postgres(?:ql)?:\/\/[^/]*:[^/]*@/.test(value))
    found.error(place, 'must not contain a password', 'Set DATABASE_URL instead')
  try {
    placeOf(value)
  } catch (error) {
    if (!isJobmillError(error)) throw error
    found.error(place, 'must be a PostgreSQL URL or a SQLite file', error.fix ?? '')
  }
  return value
}
