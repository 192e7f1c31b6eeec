/**
 * A single connection for the tools, separate from the store's. It has the deadlines of the store and is
 * always closed.
 */
import type pg from 'pg'
import { type ConnectOptions, connectClient } from '../connection/connect-client.ts'
import { type Connection, connect, type Query } from '../connection/connection.ts'
import { endSoon } from '../connection/end-client.ts'
import { codeOf } from '../connection/errors.ts'
import type { PostgresSettings } from '../options.ts'

/** The target of the tools, and the rewriting of statements for its schema. */
export interface Site {
  readonly settings: PostgresSettings
  readonly schema: string
  readonly sql: (text: string) => string
}

/** A site with an open connection. */
export interface Look extends Site {
  readonly query: Query
}

export async function withConnection<T>(
  { url, deadlineMs, platform }: PostgresSettings,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = connect({ url, connections: 1, deadlineMs, platform, namesStatements: false })
  try {
    return await work(connection)
  } finally {
    await connection.close()
  }
}

/** Like `withConnection`, but returns null if the database does not exist. */
export async function withConnectionIfThere<T>(
  settings: PostgresSettings,
  work: (connection: Connection) => Promise<T>,
): Promise<T | null> {
  try {
    return await withConnection(settings, work)
  } catch (error) {
    if (codeOf(error) === '3D000') return null
    throw error
  }
}

/** Runs `work` on a client without a pool, for statements that need a session of their own. */
export async function withClient<T>(
  client: pg.Client,
  options: ConnectOptions,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  // A lost connection is reported by the call in progress.
  client.on('error', () => {})
  try {
    await connectClient(client, options)
    return await work(client)
  } finally {
    await endSoon(options.platform, client)
  }
}
