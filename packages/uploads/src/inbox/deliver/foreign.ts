/**
 * Detects requests for another mailbox: with a token of one mailbox at the path of another, or for a file of
 * another. The caller gets the same response as for an unknown id; the operator gets a metric and a log line.
 */
import { pace } from 'jobmill-server'
import type { Inside } from '../inside.ts'
import type { ForeignTarget } from '../metrics.ts'

const WORDS = { mailbox: 'another mailbox', file: 'a file of another mailbox' } as const

export type Foreign = ReturnType<typeof foreign>

/** Maximum owner lookups per second per mailbox. */
const LOOKS_PER_SECOND = 20
/** The minimum time between two log lines. */
const LINE_EVERY_MS = 10_000

export function foreign({ tables, platform, log, metrics, onError }: Inside) {
  const looks = pace({ perSecond: LOOKS_PER_SECOND, now: () => platform.monotonic() })
  const running = new Set<Promise<void>>()
  let lastAt = -Infinity
  let unlogged = 0

  function report(target: ForeignTarget, fields: Readonly<Record<string, string>>): void {
    metrics.foreign(target)
    if (platform.monotonic() - lastAt < LINE_EVERY_MS) {
      unlogged += 1
      return
    }
    lastAt = platform.monotonic()
    const more = unlogged === 0 ? '' : ` (${unlogged} more since the last line)`
    unlogged = 0
    log?.warn(`uploads: token used for ${WORDS[target]}${more}`, fields)
  }

  async function look(from: string, file: string): Promise<void> {
    const row = await tables.db
      .selectFrom('uploads_file')
      .select('mailbox')
      .where('id', '=', file)
      .where('mailbox', '!=', from)
      .executeTakeFirst()
    if (row !== undefined) report('file', { mailbox: from, file, owner: row.mailbox })
  }

  return {
    mailbox: (from: string, target: string): void => report('mailbox', { mailbox: from, target }),
    /**
     * Checks in the background after a 404 whether another mailbox owns the file. The caller does not wait,
     * because the response time could reveal whether the file exists.
     */
    file(from: string, file: string): void {
      if (looks(from) > 0) return
      const looking = look(from, file)
        .catch((error: unknown) => onError(error, `finding the owner of file ${file}`))
        .finally(() => running.delete(looking))
      running.add(looking)
    },
    /** Resolves when no check is running. */
    async settled(): Promise<void> {
      await Promise.all(running)
    },
  }
}
