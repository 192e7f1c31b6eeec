/** Replies that must not arrive twice: noted before they are sent, so that whoever finds the note knows that they may have arrived. */
import type { Tables } from 'jobmill-tables'
import type { Schema } from './steps.ts'

export interface Begun {
  /** False when an earlier attempt began it, and nobody knows how that ended. */
  readonly begin: (jobId: string) => Promise<boolean>
  /** It certainly did not arrive. */
  readonly undo: (jobId: string) => Promise<void>
  readonly forget: (olderThanMs: number) => Promise<number>
}

export function begun(tables: Tables<Schema>): Begun {
  const { db } = tables
  return {
    async begin(jobId) {
      const row = await db
        .insertInto('telegram_begun')
        .values({ job_id: jobId, at: tables.now })
        .onConflict((held) => held.column('job_id').doNothing())
        .returning('job_id')
        .executeTakeFirst()
      return row !== undefined
    },
    async undo(jobId) {
      await db.deleteFrom('telegram_begun').where('job_id', '=', jobId).execute()
    },
    async forget(olderThanMs) {
      const before = tables.now
      const rows = await db
        .deleteFrom('telegram_begun')
        .where((is) => is('at', '<', is(before, '-', olderThanMs)))
        .returning('job_id')
        .execute()
      return rows.length
    },
  }
}
