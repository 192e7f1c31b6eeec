/**
 * Deletes blobs without rows. They exist after an older copy of the database was restored and, on SQLite,
 * after a caller rolled back its own transaction. Every other blob has a staging row before its first byte.
 * Only uploads older than the expiry are considered, which leaves time to notice a wrong restore. The age is
 * part of the upload id.
 */
import { sql } from 'jobmill-tables'
import type { Inside } from '../inside.ts'
import { deleteBlobs, type Pass } from './pass.ts'

const BATCH = 200

export type OrphanLook = ReturnType<typeof lookForOrphans>

/** A scan of all blobs, which may span several passes. */
export function lookForOrphans(inside: Inside) {
  const { limits } = inside
  const list = (): AsyncIterator<string> => inside.blobs.uploads()[Symbol.asyncIterator]()
  let uploads = list()
  let isListed = false
  /** Orphans that are not deleted yet. */
  let found: string[] = []

  /** The next batch of uploads that are old enough; empty at the end. */
  async function next(signal: AbortSignal): Promise<string[]> {
    const before = (await nowOf(inside)) - limits.stagingForMs - limits.expireAfterMs
    const some: string[] = []
    while (some.length < BATCH && !isListed && !signal.aborted) {
      const one = await uploads.next().catch((error: unknown) => {
        // A failed listing would report its end next, so start a new one.
        uploads = list()
        throw error
      })
      if (one.done === true) isListed = true
      else if (madeAt(one.value) < before) some.push(one.value)
    }
    return some
  }

  return {
    /** Runs until the end or the signal. */
    async resume(pass: Pass): Promise<void> {
      const { signal, attempt } = pass
      while (!signal.aborted) {
        const upload = found.shift()
        if (upload === undefined) {
          if (isListed) return
          found = await unknown(inside, await next(signal))
          continue
        }
        await attempt(() => deleteBlobs(pass, upload))
        await inside.fault('sweep:orphan')
      }
    },
    isDone: (): boolean => isListed && found.length === 0,
    /** Ends an abandoned scan. */
    async end(): Promise<void> {
      await uploads.return?.()
    },
  }
}

/** In milliseconds, from a version 7 id. Blobs with other ids have no age and are kept. */
function madeAt(upload: string): number {
  return upload[14] === '7' ? Number.parseInt(upload.slice(0, 8) + upload.slice(9, 13), 16) : Infinity
}

async function nowOf({ tables }: Inside): Promise<number> {
  const row = await tables.db
    .selectNoFrom(sql<number>`CAST(${tables.now} AS bigint)`.as('now'))
    .executeTakeFirstOrThrow()
  return row.now
}

/** One statement, because an upload that commits between two would be in neither result. */
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
