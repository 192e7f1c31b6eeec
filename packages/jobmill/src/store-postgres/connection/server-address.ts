/** Server address and login: a URL, the settings of a pg.Pool, or fields. */
import { JobmillError, quote } from '../../job/errors.ts'
import { nearest, unknownKeys } from '../../job/options/known-keys.ts'
import { newClient } from './driver.ts'

/** A function is called for every new connection, for example for expiring tokens. */
export type Password = string | (() => string | Promise<string>)

/** The options of `new pg.Client()` that the store reads. */
export interface ConnectionSettings {
  readonly connectionString?: string | undefined
  readonly host?: string | undefined
  readonly port?: number | undefined
  readonly user?: string | undefined
  readonly database?: string | undefined
  readonly password?: Password | undefined
  readonly ssl?: boolean | object | undefined
  /** `direct` starts TLS without a request in the PostgreSQL protocol (PostgreSQL 17 and later). */
  readonly sslnegotiation?: 'postgres' | 'direct' | undefined
  /** Whether to use SCRAM-SHA-256-PLUS if the server offers it. */
  readonly enableChannelBinding?: boolean | undefined
}

/** A `pg.Pool`, of which only the settings are read. */
export interface PoolLike {
  readonly options: object
}

export interface AddressOptions {
  readonly url?: string | undefined
  readonly pool?: PoolLike | undefined
  readonly connection?: ConnectionSettings | undefined
  readonly ssl?: boolean | object | undefined
  readonly password?: Password | undefined
}

/** A URL, or settings that a URL cannot express. */
export type Address = string | ConnectionSettings

/**
 * The pool settings that define where and as which user to connect. Pool sizes and timeouts belong to the
 * application and are ignored.
 */
const READ = [
  'connectionString',
  'host',
  'port',
  'user',
  'database',
  'password',
  'ssl',
  'sslnegotiation',
  'enableChannelBinding',
  'options',
  'stream',
]

export function addressOf(given: AddressOptions): Address {
  const { url, pool, connection, ssl, password } = given
  const ways = Object.entries({ url, pool, connection }).flatMap(([way, value]) =>
    value === undefined ? [] : way,
  )
  if (ways.length !== 1) {
    const what = ways.length === 0 ? 'is missing' : `conflicts with ${ways[0]}`
    throw invalid(ways[1] ?? 'url', what, 'Pass exactly one of url, pool and connection')
  }
  checkFields({ password, ssl })
  checkConnection(connection)
  const base =
    url ?? (pool === undefined ? fieldsOf(connection, 'connection') : fieldsOf(poolOptions(pool), 'pool'))
  if (ssl === undefined && password === undefined) return base
  const settings = settingsOf(base)
  if (ssl !== undefined) checkSslOnce(settings.connectionString, 'ssl')
  return { ...settings, ...(ssl !== undefined && { ssl }), ...(password !== undefined && { password }) }
}

function settingsOf(address: Address): ConnectionSettings {
  return typeof address === 'string' ? { connectionString: address } : address
}

const FIELDS_OR_URL = 'Pass { host, port, user, database, password }, or pass a URL as url'

/** The secrets in a pool's options are not enumerable, so each property is read by name. */
function fieldsOf(options: object | undefined, field: string): ConnectionSettings {
  if (typeof options !== 'object' || options === null)
    throw invalid(field, 'must be an object', FIELDS_OR_URL, options)
  const found = options as Record<string, unknown>
  // If the URL of a pool has a password, the driver ignores the field `password`.
  const isIgnored = (key: string): boolean =>
    field === 'pool' && key === 'password' && hasPassword(found['connectionString'])
  const isRead = (key: string): boolean => found[key] !== undefined && !isIgnored(key)
  return Object.fromEntries(READ.flatMap((key) => (isRead(key) ? [[key, found[key]]] : [])))
}

function hasPassword(url: unknown): boolean {
  if (typeof url !== 'string' || !URL.canParse(url)) return false
  const { password, searchParams } = new URL(url)
  return password !== '' || searchParams.has('password')
}

/**
 * Another address of the same database, for LISTEN or of a replica: the URL, plus the password and TLS
 * options of the store if the URL has none. A password belongs to one user, so another user does not get it.
 */
export function secondAddress(url: string, store: Address, given: AddressOptions): Address {
  const { user, password } = newClient(store) as { readonly user?: string; readonly password?: Password }
  const isOwn = !hasPassword(url) && ['', user].includes(decodeURIComponent(new URL(url).username))
  const settings = settingsOf(store)
  const isTlsSet = given.ssl !== undefined || hasTls(url)
  const address = addressOf({
    url: isTlsSet || settings.ssl !== undefined ? url : withTlsOf(settings.connectionString, url),
    ssl: given.ssl ?? (isTlsSet ? undefined : settings.ssl),
    password: given.password ?? (isOwn ? (password ?? undefined) : undefined),
  })
  if (typeof address === 'string') return address
  const { sslnegotiation, enableChannelBinding } = settings
  return { ...address, enableChannelBinding, ...(address.ssl !== undefined && { sslnegotiation }) }
}

/** Adds the TLS parameters of another URL. */
function withTlsOf(from: string | undefined, url: string): string {
  if (!hasTls(from)) return url
  const target = new URL(url)
  for (const [key, value] of new URL(from).searchParams)
    if (TLS_READ.includes(key)) target.searchParams.set(key, value)
  return target.href
}

function poolOptions(pool: PoolLike): object {
  if (typeof pool === 'object' && typeof (pool as Partial<PoolLike> | null)?.options === 'object')
    return pool.options
  throw invalid('pool', 'has no connection settings', 'Pass a pg.Pool, or url or connection instead')
}

type FieldCheck = readonly [fits: (value: unknown) => boolean, what: string, fix: string]

const TEXT: FieldCheck = [
  (value) => typeof value === 'string',
  'must be a string',
  'Pass a string, or omit it',
]
const CHECKS: Readonly<Record<string, FieldCheck>> = {
  connectionString: TEXT,
  host: TEXT,
  user: TEXT,
  database: TEXT,
  port: [isPort, 'must be a whole number from 1 to 65535', 'Pass a number, or omit it for 5432'],
  password: [
    (value) => typeof value === 'string' || typeof value === 'function',
    'must be a string or a function',
    'Pass a string, or a function that returns one',
  ],
  ssl: [
    (value) => typeof value === 'boolean' || (typeof value === 'object' && value !== null),
    'must be a boolean or an object',
    'Pass true, false, or options of tls.connect() such as { ca }',
  ],
  sslnegotiation: [
    (value) => value === 'postgres' || value === 'direct',
    'must be "postgres" or "direct"',
    'Pass one of them, or omit it',
  ],
  enableChannelBinding: [
    (value) => typeof value === 'boolean',
    'must be a boolean',
    'Pass true or false, or omit it',
  ],
}

function checkFields(fields: object, prefix = ''): void {
  const given = fields as Readonly<Record<string, unknown>>
  for (const [key, [fits, what, fix]] of Object.entries(CHECKS)) {
    const value = given[key]
    // No error shows a password.
    const shown = key === 'password' ? undefined : value
    if (value !== undefined && !fits(value)) throw invalid(`${prefix}${key}`, what, fix, shown)
  }
}

/** Unlike a pool's settings, these are meant for this store, so unknown keys are rejected. */
function checkConnection(connection: unknown): void {
  if (typeof connection !== 'object' || connection === null) return
  const [unknown] = unknownKeys(connection, 'connection', READ)
  if (unknown !== undefined) throw unknown
  checkFields(connection, 'connection.')
  const { connectionString: url, ssl } = connection as ConnectionSettings
  if (ssl !== undefined) checkSslOnce(url, 'connection.ssl')
}

/** The driver also reads the text of a number, such as one of an environment variable. */
function isPort(port: unknown): boolean {
  const number = typeof port === 'string' && /^\d+$/.test(port) ? Number(port) : port
  return Number.isInteger(number) && Number(number) >= 1 && Number(number) <= 65_535
}

/** The driver prefers the parameters of the URL, so `sslmode=disable` would connect without TLS. */
function checkSslOnce(url: string | undefined, field: string): void {
  if (!hasTls(url)) return
  const fix = 'Remove sslmode and the other ssl parameters from the URL, or omit ssl'
  throw invalid(field, 'is also set in the URL', fix)
}

function hasTls(url: string | undefined): url is string {
  return url !== undefined && /[?&]ssl/.test(url)
}

/** Does not show a value that may be a URL with a password, a connection string or a key. */
export function invalid(field: string, what: string, fix: string, value?: unknown): JobmillError {
  const shown = value === undefined ? '' : quote(value)
  // Checks the whole text, because a quoted one may be shortened.
  const text = typeof value === 'string' ? value : shown
  const isShown = shown !== '' && !/@|:\/|password|-----BEGIN/i.test(text)
  return new JobmillError('OPTION_INVALID', what, { field, fix, ...(isShown && { value: shown }) })
}

/** The same server, with its maintenance database `postgres`. */
export function inMaintenanceDatabase(address: Address): Address {
  const settings = settingsOf(address)
  if (settings.connectionString === undefined) return { ...settings, database: 'postgres' }
  const url = new URL(settings.connectionString)
  url.pathname = '/postgres'
  return { ...settings, connectionString: url.href }
}

/** For messages and logs, without the password: `user@host:port/database`. */
export function nameOfServer(address: Address): string {
  const { connectionString: url } = settingsOf(address)
  if (url !== undefined) return nameOfUrl(url)
  const { user, host, port, database } = newClient(address)
  return `${user ?? ''}@${host}:${port}/${database ?? ''}`
}

/** Throws unless it is the URL of a PostgreSQL server. It may contain a password, so no error quotes it. */
export function checkUrl(url: string, field: string): void {
  if (typeof (url as unknown) !== 'string' || !/^postgres(?:ql)?:\/\//i.test(url) || !isReadable(url)) {
    throw invalid(
      field,
      'is not the URL of a PostgreSQL server',
      'Pass postgres://user:password@host:5432/database. Write #, ?, @, / and % in a password as %23, %3F, %40, %2F and %25',
    )
  }
  for (const key of new URL(url).searchParams.keys()) checkTlsParameter(key, field)
}

/** The parameters that the driver reads, and those of libpq and Prisma that it ignores. */
const TLS_READ = ['ssl', 'sslmode', 'sslcert', 'sslkey', 'sslrootcert', 'sslnegotiation']
const TLS_IGNORED = [
  'sslpassword',
  'sslcompression',
  'sslcrl',
  'sslcrldir',
  'sslsni',
  'sslcertmode',
  'sslkeylogfile',
  'ssl_min_protocol_version',
  'ssl_max_protocol_version',
  'sslaccept',
  'sslidentity',
]

/** The driver ignores names that it does not know, so a misspelled sslmode would connect without TLS. */
function checkTlsParameter(key: string, field: string): void {
  if (!/^ss?l/i.test(key) || TLS_READ.includes(key) || TLS_IGNORED.includes(key)) return
  const meant = nearest(key, TLS_READ)
  const fix = meant === undefined ? `Use one of: ${TLS_READ.join(', ')}` : `Write ${quote(key)} as "${meant}"`
  throw invalid(field, 'has an unknown TLS parameter', fix)
}

/**
 * A % that is not followed by two hexadecimal digits would make the driver throw. An @ after the host follows
 * a password with /, ? or #, of which a part would be used as the port or the name of the database.
 */
function isReadable(url: string): boolean {
  try {
    const { username, password, pathname, search, hash } = new URL(url)
    decodeURIComponent(`${username}${password}`)
    return !`${pathname}${search}${hash}`.includes('@')
  } catch {
    return false
  }
}

function nameOfUrl(url: string): string {
  checkUrl(url, 'url')
  const { username, host, pathname } = new URL(url)
  return `${username === '' ? '' : `${decodeURIComponent(username)}@`}${host}${pathname}`
}
