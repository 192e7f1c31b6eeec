/** Opens an inbox for one command, on an existing database. */
import { existsSync } from 'node:fs'
import { JobmillError } from 'jobmill'
import { placeOf } from 'jobmill-tables'
import type { Inbox } from '../uploads.ts'
import type { CommandInput } from './command.ts'
import { DEFAULT_DATABASE, openInbox } from './open-inbox.ts'

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
  throw new JobmillError(
    'OPTION_INVALID',
    `file ${place.file} does not exist${givenAt === null ? ' (the default)' : ''}`,
    {
      field: givenAt ?? 'database',
      fix: 'Pass the database of the inbox with --db, or create one with jobmill-uploads start or mailboxes add',
    },
  )
}
