/**
 * Cleans up uploads of crashed processes, found by their staging rows. Marks a row first, so that a slow
 * upload can no longer commit.
 */
import { sql } from 'jobmill-tables'
import type { Inside } from '../inside.ts'
import { deleteBlobs, type Pass } from './pass.ts'

const BATCH = 50

export async function sweepStaging(pass: Pass): Promise<void> {
  const { inside, signal, attempt } = pass
  const { tables, fault } = inside
  for (let marked = BATCH; marked === BATCH && !signal.aborted;) {
    marked = await mark(inside)
    if (marked > 0) await fault('sweep:staging-marked')
  }
  let last = ''
  while (!signal.aborted) {
    const rows = await tables.db
      .selectFrom('uploads_staging')
      .select('upload')
      .where('swept_at', 'is not', null)
      .where('upload', '>', last)
      .orderBy('upload')
      .limit(BATCH)
      .execute()
    for (const { upload } of rows) {
      if (signal.aborted) return
      last = upload
      await fault('sweep:staging-blob')
      if (!(await attempt(() => deleteBlobs(pass, upload)))) continue
      await fault('sweep:staging-blobs')
      await tables.db.deleteFrom('uploads_staging').where('upload', '=', upload).execute()
      await fault('sweep:staging-rows')
    }
    if (rows.length < BATCH) return
  }
}

/** Marks a batch, by age. */
async function mark({ tables, limits }: Inside): Promise<number> {
  const found = await tables.db
    .selectFrom('uploads_staging')
    .select('upload')
    .where('swept_at', 'is', null)
    .where('begun_at', '<=', sql<number>`${tables.now} - ${sql.lit(limits.stagingForMs)}`)
    .limit(BATCH)
    .execute()
  const uploads = found.map(({ upload }) => upload)
  if (uploads.length === 0) return 0
  await tables.db
    .updateTable('uploads_staging')
    .set({ swept_at: tables.now })
    .where('upload', 'in', uploads)
    .where('swept_at', 'is', null)
    .execute()
  return uploads.length
}
