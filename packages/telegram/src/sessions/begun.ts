/** Replies that must not arrive twice: noted before they are sent, so that whoever finds the note knows that they may have arrived. */
import type { ReadSide } from 'jobmill'
import type { Tables } from 'jobmill-tables'
import type { Schema } from './steps.ts'

export interface Begun {
  /**
   * False when an earlier attempt began it, and nobody knows how that ended. `token` is that of this attempt; `unsent` are those of attempts that certainly
   * sent nothing, whose note may still be there.
   */
  readonly begin: (jobId: string, token: string, unsent: readonly string[]) => Promise<boolean>
  /** It certainly did not arrive. What another attempt noted stays. */
  readonly undo: (jobId: string, token: string) => Promise<void>
  /** Notes of this age whose job is done or gone; says how many. A job that waits, or can be tried again by hand, still needs its note, however old that is. */
  readonly forget: (olderThanMs: number) => Promise<number>
}

const BATCH = 200

export function begun(tables: Tables<Schema>, jobs: Pick<ReadSide, 'results'>): Begun {
  const { db } = tables
  return {
    async begin(jobId, token, unsent) {
      const row = await db
        .insertInto('telegram_begun')
        .values({ job_id: jobId, at: tables.now, token })
        .onConflict((held) =>
          held
            .column('job_id')
            .doUpdateSet({ token, at: tables.now })
            // With none of them, one that no attempt has.
            .where('telegram_begun.token', 'in', [token, ...unsent]),
        )
        .returning('job_id')
        .executeTakeFirst()
      return row !== undefined
    },
    async undo(jobId, token) {
      await db.deleteFrom('telegram_begun').where('job_id', '=', jobId).where('token', '=', token).execute()
    },
    async forget(olderThanMs) {
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
