/** Checks the replica of `readUrl`: whether it can be read, follows this primary, and is not far behind. */
import { sleep } from '../../platform/sleep.ts'
import { type Diagnostic, ok, warning } from '../../store/admin/admin.ts'
import { hasReached, replicaProblem, positionOf, unreadable } from '../connection/replica.ts'
import { nameOfServer } from '../connection/server-address.ts'
import { type Look, withConnection } from './reach.ts'

const CONNECT_MS = 5_000
/** How long the check waits for the replica. */
const REACHES_WITHIN_MS = 2_000
const ASK_EVERY_MS = 20

const INSTEAD = 'Lists and metrics are read from the primary'

export async function replica({ query, settings, sql }: Look): Promise<Diagnostic[]> {
  const { readUrl: url, platform } = settings
  if (url === null) return []
  const name = nameOfServer(url)
  const unusable = (what: string, fix: string): Diagnostic[] => [
    warning('replica', `the replica ${name} ${what}`, fix),
  ]
  const primary = await positionOf(query, sql)
  const from = platform.monotonic()
  const deadlineMs = Math.min(settings.deadlineMs, CONNECT_MS)
  try {
    return await withConnection({ ...settings, url, deadlineMs }, async (connection) => {
      for (;;) {
        const position = await positionOf(connection.query, sql)
        const problem = replicaProblem(position, primary)
        if (problem !== null)
          return unusable(
            `${problem}. ${INSTEAD}`,
            'Set readUrl to the URL of a replica of this server, or omit it',
          )
        const ms = Math.ceil(platform.monotonic() - from)
        if (hasReached(position, primary))
          return [ok('replica', `the replica ${name} is at most ${ms} ms behind`)]
        if (ms > REACHES_WITHIN_MS)
          return unusable(
            `is more than ${REACHES_WITHIN_MS / 1_000} s behind. ${INSTEAD} if it is more than 10 s behind`,
            'Check pg_stat_replication on the primary, and long queries and recovery_min_apply_delay on the replica',
          )
        await sleep(platform, ASK_EVERY_MS)
      }
    })
  } catch (error) {
    return unusable(
      `${unreadable(error)}. ${INSTEAD}`,
      'Check the option readUrl, and that the replica is running with hot_standby on',
    )
  }
}
