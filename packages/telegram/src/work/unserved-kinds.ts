/** Jobs whose bot or handler left the config: they wait, and what follows in their chats with them. Told at the start, since nothing else would. */
import type { Mill } from 'jobmill'
import type { Log } from '../log.ts'

export async function warnOfUnserved(mill: Pick<Mill<never>, 'unservedKinds'>, log: Log): Promise<void> {
  const waiting = await mill.unservedKinds().catch(() => [])
  for (const { queue, kind, jobs } of waiting)
    if (kind.startsWith('telegram.'))
      log('warn', 'jobs wait for a bot or a handler that is not in the config, and their chats with them', {
        queue,
        kind,
        jobs,
        fix: 'bring it back, or cancel them in Mission Control',
      })
}
