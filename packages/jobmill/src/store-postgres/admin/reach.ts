/** A connection for the tools, beside whatever the store has open: one, with the deadlines of the store, and ended whatever happens. */
import { type Connection, connect, type Query } from '../connection.ts'
import { codeOf } from '../errors.ts'
import type { PostgresSettings } from '../options.ts'

/** What the tools work on: where, and how a statement gets into its schema. */
export interface Site {
  readonly settings: PostgresSettings
  readonly schema: string
  readonly sql: (text: string) => string
}

/** The same while it is looked at. */
export interface Look extends Site {
  readonly query: Query
}

export async function connected<T>(
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

/** The same for a database that may not be there: null when it is not. */
export async function connectedIfThere<T>(
  settings: PostgresSettings,
  work: (connection: Connection) => Promise<T>,
): Promise<T | null> {
  try {
    return await connected(settings, work)
  } catch (error) {
    if (codeOf(error) === '3D000') return null
    throw error
  }
}
