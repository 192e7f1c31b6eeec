/** An inbox for one command, on a database that is there. */
import { existsSync } from 'node:fs'
import { JobmillError } from 'jobmill'
import { placeOf } from 'jobmill-tables'
import type { Inbox } from '../uploads.ts'
import type { Given } from './command.ts'
import { DEFAULT_DATABASE, openInbox } from './open-inbox.ts'

export async function withInbox(
  given: Given,
  act: (inbox: Inbox) => Promise<number>,
  { makes = false }: { readonly makes?: boolean } = {},
): Promise<number> {
  const { config, placeOf: givenAt } = given.config()
  if (!makes) checkIsThere(config.database ?? DEFAULT_DATABASE, givenAt('database'))
  // Nothing comes in here, so no file becomes a job.
  const { job: _job, ...rest } = config
  const { inbox, close } = await openInbox(rest)
  try {
    await inbox.start()
    return await act(inbox)
  } finally {
    await close()
  }
}

/** Who is in the wrong folder, or has mistyped the name, gets no empty database. */
function checkIsThere(address: string, givenAt: string | null): void {
  const place = placeOf(address)
  if (place.type === 'postgres' || existsSync(place.file)) return
  throw new JobmillError(
    'OPTION_INVALID',
    `there is no file ${place.file}${givenAt === null ? ', which is the usual one' : ''}`,
    {
      field: givenAt ?? 'database',
      fix: 'Name the database of the inbox with --db; jobmill-uploads start makes one, and so does mailboxes add',
    },
  )
}
