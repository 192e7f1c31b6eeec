/** Reads the addresses of the config: listening, public URL, Telegram API root, database, and sources. */
import { isIP, isIPv6 } from 'node:net'
import { placeOf } from 'jobmill-tables'
import type { Address, SourcesConfig } from './config.ts'
import { type Place, typeOf } from './problems.ts'
import type { Section, SettingValue } from './section.ts'

const DEFAULT_FILE = 'telegram.db'
const TELEGRAM = 'https://api.telegram.org'
const LAST_PORT = 65_535
/** The ports that Telegram supports. The URL class reports a default port as an empty string. */
const PORTS = new Set(['', '443', '80', '88', '8443'])

/**
 * Accepts `host:port`, `[::1]:port` (IPv6), `:port` (all addresses of this machine) or `port` (the default
 * host).
 */
export function addressOf({ value, at }: SettingValue, otherwise: Address): Address {
  if (value === undefined) return otherwise
  const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : ''
  const match = /^(?:(.*):)?(\d+)$/.exec(text)
  const port = Number(match?.[2] ?? Number.NaN)
  const host = match?.[1] === undefined ? otherwise.host : hostOf(match[1])
  const example = `Write host:port, such as ${otherwise.host}:${otherwise.port}`
  if (match === null || host === null) at.error(`must be an address (got ${typeOf(value)})`, example)
  else if (port > LAST_PORT) at.error(`must have a port of at most ${LAST_PORT} (got ${match[2]})`, example)
  else return { host, port }
  return otherwise
}

/** Node listens on an IPv6 address without its brackets. Null if the brackets contain anything else. */
function hostOf(text: string): string | null {
  if (!/[[\]]/.test(text)) return text || '0.0.0.0'
  const inside = /^\[(.*)\]$/.exec(text)?.[1] ?? ''
  return isIPv6(inside) ? inside : null
}

export function publicUrlOf(root: Section): string | null {
  const { value, at } = root.setting('publicUrl', 'PUBLIC_URL')
  if (value === undefined) return null
  const url = baseUrlOf(value, at, 'Write the URL that Telegram can reach, such as https://tg.example.org')
  if (url === null) return null
  const { port } = new URL(url)
  if (!PORTS.has(port))
    at.warn(`has port ${port}, which Telegram does not support`, 'Use 443, 80, 88 or 8443')
  if (url.startsWith('http:'))
    at.warn('is not https, which Telegram requires', 'Write https://…, on port 443, 80, 88 or 8443')
  return url
}

export function apiRootOf(root: Section): string {
  const { value = TELEGRAM, at } = root.setting('apiRoot', 'TELEGRAM_API_ROOT')
  return baseUrlOf(value, at, `Write ${TELEGRAM}, or omit it`) ?? TELEGRAM
}

/**
 * A URL to which paths are appended; null if it is not a URL. Refuses credentials and a query, because they
 * would appear in log lines.
 */
function baseUrlOf(value: unknown, at: Place, fix: string): string | null {
  const url = httpUrl(value)
  if (url === null) {
    at.error('must be an http or https URL', fix)
    return null
  }
  refuseUser(url, at, 'Remove the part between // and @')
  if (url.search !== '' || url.hash !== '')
    at.error('must not have a query or a fragment', 'Remove the query and the fragment')
  return String(value).replace(/\/+$/, '')
}

/** Messages never repeat a URL: even a mistyped one may contain a secret. */
export function httpUrl(value: unknown): URL | null {
  const url = typeof value === 'string' ? URL.parse(value) : null
  return url !== null && /^https?:$/.test(url.protocol) ? url : null
}

export function refuseUser({ username, password }: URL, at: Place, fix: string): void {
  if (username !== '' || password !== '') at.error('must not contain a user name or password', fix)
}

/** Null for `none`. Messages do not repeat the address, because it may contain a password. */
export function databaseOf(root: Section): string | null {
  const { value = DEFAULT_FILE, at } = root.setting('store', 'DATABASE_URL')
  if (root.get('store') === 'none') {
    if (value !== 'none') root.at('store').error('is none, but DATABASE_URL is set', 'Remove one of the two')
    return null
  }
  if (value === 'none') {
    at.error('must not be none', 'Unset it, and write store: none in the config')
    return null
  }
  if (typeof value !== 'string' || value.trim() === '') {
    at.error(
      'must be a SQLite file, a PostgreSQL URL or none',
      'Write the path of a file, or set DATABASE_URL',
    )
    return DEFAULT_FILE
  }
  if (at.place !== 'DATABASE_URL' && /^postgres(?:ql)?:\/\/[^/]*:[^/]*@/.test(value))
    at.error('must not contain a password', 'Set DATABASE_URL instead')
  at.check('must be a PostgreSQL URL or a SQLite file', () => placeOf(value))
  return value
}

/** The networks that Telegram publishes. They may change. */
const NETWORKS = ['149.154.160.0/20', '91.108.4.0/22']
const SOURCES_EXAMPLE =
  "Write telegram, or a list of addresses and networks: ['149.154.160.0/20', '127.0.0.1']"

/** The addresses from which webhooks are accepted. */
export function sourcesOf(root: Section): SourcesConfig | null {
  const given = root.get('sources')
  const at = root.at('sources')
  const header = root.text('sourceHeader')?.toLowerCase() ?? null
  if (given === undefined) {
    if (header !== null)
      root.at('sourceHeader').warn('has no effect without sources', 'Write sources: telegram')
    return null
  }
  const list = given === 'telegram' ? NETWORKS : given
  if (!Array.isArray(list) || list.length === 0) {
    at.error(`must be telegram or a list (got ${typeOf(given)})`, SOURCES_EXAMPLE)
    return null
  }
  const networks = list.flatMap((one) => {
    const network = networkOf(one)
    if (network === null)
      at.error(`must contain only addresses and networks (got ${typeOf(one)})`, SOURCES_EXAMPLE)
    return network ?? []
  })
  return { networks, header }
}

function networkOf(value: unknown): SourcesConfig['networks'][number] | null {
  const [address = '', bits, ...more] = typeof value === 'string' ? value.trim().split('/') : []
  const version = isIP(address)
  const most = version === 4 ? 32 : 128
  const prefix = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN
  if (version === 0 || more.length > 0 || !(prefix <= most)) return null
  return { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' }
}
