/**
 * Blobs that no row knows: of a database that was put back from an older copy. Every blob has a staging row or a file row from before its first byte on, so one
 * that has neither is nobody's. Only those are looked at that are older than any file gets without an acknowledgement: by then whoever put back the wrong copy has
 * seen it. The age is in the id of the upload.
 */
import { sql } from 'jobmill-tables'
import type { Inside } from './inside.ts'
import { deleteBlobs } from './sweep-staging.ts'

const BATCH = 200

export async function sweepOrphans(
  inside: Inside,
  signal: AbortSignal,
  count: (blobs: number) => void,
  failed: (error: unknown) => void,
): Promise<void> {
  const { blobs, limits } = inside
  const before = (await nowOf(inside)) - limits.stagingForMs - limits.expireAfterMs
  let some: string[] = []
  async function look(): Promise<void> {
    const uploads = some
    some = []
    for (const upload of await unknown(inside, uploads)) {
      try {
        count(await deleteBlobs(inside, upload))
      } catch (error) {
        failed(error)
      }
      await inside.fault('sweep:orphan')
    }
  }
  for await (const upload of blobs.uploads()) {
    if (signal.aborted) return
    if (madeAt(upload) < before) some.push(upload)
    if (some.length === BATCH) await look()
  }
  await look()
}

/** In milliseconds; ids of version 7 begin with it. Of others it is not known, and they are left alone. */
function madeAt(upload: string): number {
  return upload[14] === '7' ? Number.parseInt(upload.slice(0, 8) + upload.slice(9, 13), 16) : Infinity
}

async function nowOf({ tables }: Inside): Promise<number> {
  const row = await tables.db
    .selectNoFrom(sql<number>`CAST(${tables.now} AS bigint)`.as('now'))
    .executeTakeFirstOrThrow()
  return row.now
}

/** In one statement: an upload that commits between two would be in neither. */
async function unknown({ tables }: Inside, uploads: readonly string[]): Promise<string[]> {
  if (uploads.length === 0) return []
  const rows = await tables.db
    .selectFrom('uploads_file')
    .select('upload')
    .where('upload', 'in', uploads)
    .union(tables.db.selectFrom('uploads_staging').select('upload').where('upload', 'in', uploads))
    .execute()
  const known = new Set(rows.map(({ upload }) => upload))
  return uploads.filter((upload) => !known.has(upload))
}
