/** The driver of PostgreSQL, which is loaded at its first use. All clients are created here. */
import type pg from 'pg'
import { loadDriver } from '../../store/load-driver.ts'

let loaded: typeof pg | undefined

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
  if (typeof address === 'string') return new Client({ ...own, connectionString: address })
  const client = new Client({ ...(address as pg.ClientConfig), ...own })
  // The driver prefers the password of a connection string, even if it has none.
  if (address.password !== undefined) (client as { password?: unknown }).password = address.password
  return client
}
