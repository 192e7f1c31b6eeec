/** Opens the database and the inbox for a command. */
import { jobmill, type Mill, type MillOptions } from 'jobmill'
import { oneLine, standardLines } from 'jobmill/cli'
import { type Database, openTables, placeOf } from 'jobmill-tables'
import { directoryBlobs } from '../blobs/directory.ts'
import { postgresBlobs } from '../blobs/postgres.ts'
import type { Config } from '../config/shape.ts'
import type { UploadsOptions } from '../options.ts'
import { STEPS } from '../tables/steps.ts'
import type { Schema } from '../tables/schema.ts'
import { type Inbox, uploads } from '../uploads.ts'

export const DEFAULT_DATABASE = 'uploads.db'
export const DEFAULT_BLOBS = 'uploads-blobs'
/** Connections to PostgreSQL, which limit parallel writes. */
const CONNECTIONS = 10
/** The mill needs a queue, even in a process that only sweeps. */
const QUEUE = 'uploads'

export interface Opened {
  readonly inbox: Inbox
  readonly database: Database<Schema>
  readonly newMill: (options?: Partial<MillOptions>) => Mill<never>
  readonly close: () => Promise<void>
}

export async function openInbox(config: Config): Promise<Opened> {
  const { database: address = DEFAULT_DATABASE, blobs = DEFAULT_BLOBS } = config
  const folder = blobs === 'postgres' ? null : directoryBlobs(blobs)
  if (placeOf(address).type === 'sqlite') await folder?.reserve?.makeWay()
  const database = await openTables<Schema>(address, {
    app: 'uploads',
    steps: STEPS,
    connections: CONNECTIONS,
    onError: (error) =>
      standardLines.err(oneLine(`uploads error database connection lost: ${error.message}`)),
  })
  const { tables } = database
  const inbox = uploads({
    ...optionsOf(config),
    tables,
    blobs: folder ?? postgresBlobs(tables),
    log: config.logLevel ?? 'warn',
  })
  return {
    inbox,
    database,
    newMill: (options = {}) =>
      jobmill({ store: database.store, serve: [QUEUE], duties: [inbox.duty], log: 'info', ...options }),
    close: () => tables.close(),
  }
}

/** The inbox options from the config. */
export function optionsOf(config: Config): Partial<UploadsOptions> {
  const { database: _database, blobs: _blobs, port: _port, bind: _bind, ...others } = config
  const { tokens: _tokens, adminPort: _adminPort, adminBind: _adminBind, logLevel: _level, ...rest } = others
  const { quotaBytes, quotaFiles, job, ...plain } = rest
  const given = {
    ...plain,
    quotaBytes: quotaBytes === 'none' ? null : quotaBytes,
    quotaFiles: quotaFiles === 'none' ? null : quotaFiles,
    ...(job !== undefined && {
      job: { kind: job.kind, ...(job.queue !== undefined && { queue: job.queue }) },
    }),
  }
  // The inbox has its own defaults for settings that are not given.
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}
