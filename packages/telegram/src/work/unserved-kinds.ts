/**
 * Warns at the start about jobs whose bot or handler was removed from the config. They may block their chats.
 */
import type { Mill } from 'jobmill'
import type { Log } from '../log.ts'

export async function warnOfUnserved(mill: Pick<Mill<never>, 'unservedKinds'>, log: Log): Promise<void> {
  const waiting = await mill.unservedKinds().catch(() => [])
  for (const { queue, kind, jobs } of waiting)
    if (kind.startsWith('telegram.'))
      log(
        'warn',
        'jobs have no worker, because their bot or handler is not in the config; their chats may be blocked',
        {
          queue,
          kind,
          jobs,
          fix: 'restore the bot or handler, or cancel the jobs in Mission Control',
        },
      )
}
