/** Addresses in the config: where we listen, where Telegram is, where Telegram finds us, and where the database is. */
import { isJobmillError } from 'jobmill'
import { placeOf } from 'jobmill-tables'
import type { Address } from './config.ts'
import { type Problems, typeOf } from './problems.ts'
import { type GivenValue, givenIn } from './given.ts'
import type { Section } from './section.ts'
import type { Env } from './secrets.ts'

const DEFAULT_FILE = 'telegram.db'
const TELEGRAM = 'https://api.telegram.org'
const LAST_PORT = 65_535
/** That of https has no number. */
const PORTS = new Set(['', '443', '80', '88', '8443'])

/** `host:port`, `:port` or `port`. */
export function addressOf({ value, place }: GivenValue, otherwise: Address, found: Problems): Address {
  if (value === undefined) return otherwise
  const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : ''
  const match = /^(?:(.*):)?(\d+)$/.exec(text)
  const port = Number(match?.[2] ?? Number.NaN)
  const example = `Write host:port, such as ${otherwise.host}:${otherwise.port}`
  if (match === null) found.error(place, `is ${typeOf(value)}, which is no address`, example)
  else if (port > LAST_PORT)
    found.error(place, `has the port ${match[2]}, and the last there is is ${LAST_PORT}`, example)
  else return { host: match[1] === undefined ? otherwise.host : match[1] || '0.0.0.0', port }
  return otherwise
}

export function publicUrlOf(root: Section, env: Env, found: Problems): string | null {
  const { value, place } = givenIn(root, 'publicUrl', env, 'PUBLIC_URL')
  if (value === undefined) return null
  const url = httpUrl(value)
  if (url === null) {
    found.error(
      place,
      `is ${typeOf(value)}`,
      'Write the address that Telegram can reach: https://tg.example.org',
    )
    return null
  }
  refuseNames(url, place, found)
  const { port, search, hash } = new URL(url)
  if (search !== '' || hash !== '')
    found.error(place, 'has something behind its path', 'Take away what begins with ? or #')
  if (!PORTS.has(port))
    found.warn(place, `has the port ${port}, which Telegram does not call`, 'Use 443, 80, 88 or 8443')
  if (url.startsWith('http:'))
    found.warn(
      place,
      'is not https, and Telegram calls nothing else',
      'Write https://…, on port 443, 80, 88 or 8443',
    )
  return url.replace(/\/+$/, '')
}

export function apiRootOf(root: Section, env: Env, found: Problems): string {
  const { value = TELEGRAM, place } = givenIn(root, 'apiRoot', env, 'TELEGRAM_API_ROOT')
  const url = httpUrl(value)
  if (url === null) found.error(place, `is ${typeOf(value)}`, `Write ${TELEGRAM}, or leave it out`)
  else refuseNames(url, place, found)
  return (url ?? TELEGRAM).replace(/\/+$/, '')
}

/** They would be in log lines, and nobody asks for them. The value is not told. */
function refuseNames(url: string, place: string, found: Problems): void {
  const { username, password } = new URL(url)
  if (username !== '' || password !== '')
    found.error(place, 'has a name or a password in it', 'Take away what stands between // and @')
}

function httpUrl(value: unknown): string | null {
  if (typeof value !== 'string' || !URL.canParse(value)) return null
  return /^https?:$/.test(new URL(value).protocol) ? value : null
}

/** Null for none. What is wrong is told without the address, which may have a password in it. */
export function databaseOf(root: Section, env: Env, found: Problems): string | null {
  const { value = DEFAULT_FILE, place } = givenIn(root, 'store', env, 'DATABASE_URL')
  if (root.get('store') === 'none') {
    if (value !== 'none')
      found.error(root.at('store'), 'is none, and DATABASE_URL is set', 'Take away one of the two')
    return null
  }
  if (value === 'none') {
    found.error(place, 'is none', 'Take it away, and write store: none in the config')
    return null
  }
  if (typeof value !== 'string' || value.trim() === '') {
    found.error(place, 'is no database', 'Write the path of a file, or none; or set DATABASE_URL')
    return DEFAULT_FILE
  }
  if (place !== 'DATABASE_URL' && /^postgres(?:ql)?:\/\/[^/]*:[^/]*@/.test(value))
    found.error(place, 'has a password in it', 'Set DATABASE_URL instead')
  try {
    placeOf(value)
  } catch (error) {
    if (!isJobmillError(error)) throw error
    found.error(place, 'is the address of no database that we know', error.fix ?? '')
  }
  return value
}
