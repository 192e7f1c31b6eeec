/** Replies that must not arrive twice: noted before they are sent, so that whoever finds the note knows that they may have arrived. */
import type { ReadSide } from 'jobmill'
import type { Tables } from 'jobmill-tables'
import type { Schema } from './steps.ts'

export interface Begun {
  /** False when an earlier attempt began it, and nobody knows how that ended. */
  readonly begin: (jobId: string) => Promise<boolean>
  /** It certainly did not arrive. */
  readonly undo: (jobId: string) => Promise<void>
  /** Notes of this age whose job is done or gone; says how many. A job that waits, or can be tried again by hand, still needs its note, however old that is. */
  readonly forget: (olderThanMs: number) => Promise<number>
}

const BATCH = 200

export function begun(tables: Tables<Schema>, jobs: Pick<ReadSide, 'results'>): Begun {
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
