/** Opens the database and the inbox for a command. */
import { existsSync } from 'node:fs'
import { jobmill, JobmillError, type LogOption, type Mill } from 'jobmill'
import { omitUndefined } from 'jobmill/internal'
import { oneLine, standardLines } from 'jobmill/cli'
import { openTables, placeOf } from 'jobmill-tables'
import { directoryBlobs } from '../blobs/directory.ts'
import { postgresBlobs } from '../blobs/postgres.ts'
import type { Config } from '../config/shape.ts'
import type { UploadsOptions } from '../options.ts'
import { STEPS } from '../tables/steps.ts'
import type { Schema } from '../tables/schema.ts'
import { type Inbox, uploads } from '../uploads.ts'
import type { CommandInput } from './command.ts'

export const DEFAULT_DATABASE = 'uploads.db'
export const DEFAULT_BLOBS = 'uploads-blobs'
/** Connections to PostgreSQL, which limit parallel writes. */
const CONNECTIONS = 10
/** The mill needs a queue, even in a process that only sweeps. */
const QUEUE = 'uploads'

export type Opened = Awaited<ReturnType<typeof openInbox>>

export async function openInbox(config: Config) {
  const { database: address = DEFAULT_DATABASE, blobs = DEFAULT_BLOBS } = config
  const folder = blobs === 'postgres' ? null : directoryBlobs(blobs)
  if (placeOf(address).type === 'sqlite') await folder?.reserve?.makeWay()
  const { store, tables } = await openTables<Schema>(address, {
    app: 'uploads',
    steps: STEPS,
    connections: CONNECTIONS,
    onError: (error) =>
      standardLines.err(oneLine(`uploads error database connection lost: ${error.message}`)),
  })
  const inbox = uploads({
    ...optionsOf(config),
    tables,
    blobs: folder ?? postgresBlobs(tables),
    log: config.logLevel ?? 'warn',
  })
  return {
    inbox,
    newMill: (log: LogOption): Mill<never> => jobmill({ store, serve: [QUEUE], duties: [inbox.duty], log }),
    close: () => tables.close(),
  }
}

/** The inbox options from the config. */
export function optionsOf(config: Config): Partial<UploadsOptions> {
  const { database, blobs, port, bind, adminPort, adminBind, tokens, logLevel, ...others } = config
  const { quotaBytes, quotaFiles, ...options } = others
  // The inbox has its own defaults for settings that are not given.
  return omitUndefined({
    ...options,
    quotaBytes: quotaBytes === 'none' ? null : quotaBytes,
    quotaFiles: quotaFiles === 'none' ? null : quotaFiles,
  })
}

/** Opens an inbox for one command, on an existing database unless it `makes` one. */
export async function withInbox(
  given: CommandInput,
  act: (inbox: Inbox) => Promise<number>,
  { makes = false }: { readonly makes?: boolean } = {},
): Promise<number> {
  const { config, placeOf: givenAt } = given.config()
  if (!makes) checkIsThere(config.database ?? DEFAULT_DATABASE, givenAt('database'))
  // No files arrive here, so there are no jobs to enqueue.
  const { job: _job, ...rest } = config
  const { inbox, close } = await openInbox(rest)
  try {
    await inbox.start()
    return await act(inbox)
  } finally {
    await close()
  }
}

/** A wrong folder or a mistyped name must not create an empty database. */
function checkIsThere(address: string, givenAt: string | null): void {
  const place = placeOf(address)
  if (place.type === 'postgres' || existsSync(place.file)) return
  const what = `file ${place.file} does not exist${givenAt === null ? ' (the default)' : ''}`
  throw new JobmillError('OPTION_INVALID', what, {
    field: givenAt ?? 'database',
    fix: 'Pass the database of the inbox with --db, or create it with "jobmill-uploads start" or "jobmill-uploads mailboxes add"',
  })
}
