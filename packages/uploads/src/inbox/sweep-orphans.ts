/**
 * Blobs that no row knows: of a database that was put back from an older copy. Every blob has a staging row or a file row from before its first byte on, so one
 * that has neither is nobody's. Only those are looked at that are older than any file gets without an acknowledgement: by then whoever put back the wrong copy has
 * seen it. The age is in the id of the upload.
 */
import { sql } from 'jobmill-tables'
import type { Inside } from './inside.ts'
import { deleteBlobs } from './sweep-staging.ts'

const BATCH = 200

/** At every blob there is, which may take longer than a pass. */
export interface OrphanLook {
  /** Until the end, or the signal. */
  readonly goOn: (
    signal: AbortSignal,
    count: (blobs: number) => void,
    failed: (error: unknown) => void,
  ) => Promise<void>
  readonly isDone: () => boolean
  /** Nobody goes on with it. */
  readonly end: () => Promise<void>
}

export function lookForOrphans(inside: Inside): OrphanLook {
  const { limits } = inside
  const list = (): AsyncIterator<string> => inside.blobs.uploads()[Symbol.asyncIterator]()
  let uploads = list()
  let isListed = false
  /** Found to be nobody's, and not deleted yet. */
  let found: string[] = []

  /** The next of them that are old enough; none at the end. */
  async function next(signal: AbortSignal): Promise<string[]> {
    const before = (await nowOf(inside)) - limits.stagingForMs - limits.expireAfterMs
    const some: string[] = []
    while (some.length < BATCH && !isListed && !signal.aborted) {
      const one = await uploads.next().catch((error: unknown) => {
        // A list that broke says afterwards that it is at its end.
        uploads = list()
        throw error
      })
      if (one.done === true) isListed = true
      else if (madeAt(one.value) < before) some.push(one.value)
    }
    return some
  }

  return {
    async goOn(signal, count, failed) {
      while (!signal.aborted) {
        const upload = found.shift()
        if (upload === undefined) {
          if (isListed) return
          found = await unknown(inside, await next(signal))
          continue
        }
        try {
          count(await deleteBlobs(inside, upload))
        } catch (error) {
          failed(error)
        }
        await inside.fault('sweep:orphan')
      }
    },
    isDone: () => isListed && found.length === 0,
    async end() {
      await uploads.return?.()
    },
  }
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
