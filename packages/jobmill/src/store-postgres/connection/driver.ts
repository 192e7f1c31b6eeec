/** The driver of PostgreSQL, which is loaded at its first use. All clients are created here. */
import type pg from 'pg'
import { loadDriver } from '../../store/load-driver.ts'
import { textsOf } from './array-text.ts'

let loaded: typeof pg | undefined

const asNumber = (text: string): number => Number(text)
const asText = (text: string): string => text

// int8 and numeric become numbers, because all values stay below 2^53. All other types stay text, also json.
const PARSERS = new Map<number, (text: string) => unknown>([
  [16, (text) => text === 't'],
  [20, asNumber],
  [21, asNumber],
  [23, asNumber],
  [26, asNumber],
  [700, asNumber],
  [701, asNumber],
  [1700, asNumber],
  [1009, textsOf],
])

/**
 * The option `types` of a pg client. The parsers of pg are global, and an application may replace them for
 * its own statements. The store therefore has parsers of its own for every type that its statements return.
 */
const TYPES = {
  getTypeParser: (oid: number): ((text: string) => unknown) => PARSERS.get(oid) ?? asText,
}

/** Throws STORE_UNSUPPORTED if pg is not installed. */
export function loadPg(): typeof pg {
  loaded ??= loadDriver('pg') as typeof pg
  return loaded
}

/** Reads certificates, and throws if it cannot. */
export function newClient(
  address: string | { readonly password?: unknown },
  own: pg.ClientConfig = {},
): pg.Client {
  const { Client } = loadPg()
  const isUrl = typeof address === 'string'
  const server = isUrl ? { connectionString: address } : (address as pg.ClientConfig)
  const client = new Client({ ...server, ...own, types: TYPES })
  const changed = client as { password?: unknown; binary?: boolean }
  // The driver prefers the password of a connection string, even if it has none.
  if (!isUrl && address.password !== undefined) changed.password = address.password
  // TYPES reads text. The option would not replace a `pg.defaults.binary` of the application.
  changed.binary = false
  return client
}
