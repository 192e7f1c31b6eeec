/**
 * Records at-most-once replies before they are sent. A record without an outcome means that the reply may
 * have arrived.
 */
import type { FullStore } from 'jobmill'
import type { Tables } from 'jobmill-tables'
import type { Schema } from './steps.ts'

export type StartedReplies = ReturnType<typeof startedReplies>

const BATCH = 200

export function startedReplies(tables: Tables<Schema>, jobs: Pick<FullStore, 'results'>) {
  const { db } = tables
  return {
    /**
     * Returns false if an earlier attempt began sending and its outcome is unknown. `token` identifies this
     * attempt. `unsent` holds the tokens of attempts that certainly sent nothing, whose record may remain.
     */
    begin: async (jobId: string, token: string, unsent: readonly string[]): Promise<boolean> => {
      const row = await db
        .insertInto('telegram_begun')
        .values({ job_id: jobId, at: tables.now, token })
        .onConflict((held) =>
          held
            .column('job_id')
            .doUpdateSet({ token, at: tables.now })
            // The list includes the attempt's own token, because SQL allows no empty list.
            .where('telegram_begun.token', 'in', [token, ...unsent]),
        )
        .returning('job_id')
        .executeTakeFirst()
      return row !== undefined
    },
    /** Removes the record of a reply that certainly did not arrive. Records of other attempts stay. */
    undo: async (jobId: string, token: string): Promise<void> => {
      await db.deleteFrom('telegram_begun').where('job_id', '=', jobId).where('token', '=', token).execute()
    },
    /**
     * Deletes records older than this whose job is done or gone, and returns how many. A job that is open, or
     * can be retried by hand, keeps its record at any age.
     */
    forget: async (olderThanMs: number): Promise<number> => {
      let gone = 0
      let after = ''
      for (;;) {
        const notes = await db
          .selectFrom('telegram_begun')
          .select('job_id')
          .where('job_id', '>', after)
          .where((is) => is('at', '<', is(tables.now, '-', olderThanMs)))
          .orderBy('job_id')
          .limit(BATCH)
          .execute()
        const ids = notes.map(({ job_id: id }) => id)
        if (ids.length === 0) return gone
        const found = await jobs.results(ids)
        const over = ids.filter((_, n) => (found[n]?.state ?? 'done') === 'done')
        if (over.length > 0) await db.deleteFrom('telegram_begun').where('job_id', 'in', over).execute()
        gone += over.length
        after = ids.at(-1) ?? ''
      }
    },
  }
}
