/**
 * Blobs as rows of chunks, for clusters whose processes share no disk. Reads and writes one chunk at a time.
 */
import { JobmillError } from 'jobmill'
import { checkObject } from 'jobmill/internal'
import type { Tables } from 'jobmill-tables'
import type { Schema } from '../tables/schema.ts'
import { type BlobStore, BlobMissing, partsOf } from './blob-store.ts'
import { inPieces } from './in-pieces.ts'

const CHUNK_BYTES = 256 * 1_024
const LISTED = 500

export function postgresBlobs(tables: Pick<Tables<Schema>, 'db' | 'type'>): BlobStore {
  checkObject(tables, 'tables', "the tables of openTables(address, { app: 'uploads', steps: STEPS })")
  const { db, type } = tables
  const chunkOf = async (blob: string, n: number): Promise<Uint8Array> => {
    const row = await db
      .selectFrom('uploads_chunk')
      .select('bytes')
      .where((chunk) => chunk.and({ blob, n }))
      .executeTakeFirst()
    if (row === undefined) throw new BlobMissing(blob)
    return row.bytes
  }
  return {
    name: 'the database',
    async open() {
      if (type === 'postgres') return
      throw new JobmillError('OPTION_CONFLICT', 'storing files in the database requires PostgreSQL', {
        field: 'blobs',
        fix: 'Use a folder, or set DATABASE_URL to postgres://…',
      })
    },
    async write(blob, bytes, signal) {
      partsOf(blob)
      let n = 0
      for await (const piece of inPieces(bytes, CHUNK_BYTES)) {
        signal.throwIfAborted()
        await db.insertInto('uploads_chunk').values({ blob, n, bytes: piece }).execute()
        n += 1
      }
    },
    async read(blob, { start, end }) {
      const firstAt = Math.floor(start / CHUNK_BYTES)
      // Read the first chunk now, so that a missing blob is reported before the first byte.
      const first = await chunkOf(blob, firstAt)
      return (async function* () {
        for (let n = firstAt; n * CHUNK_BYTES <= end; n += 1) {
          const bytes = n === firstAt ? first : await chunkOf(blob, n)
          const from = Math.max(0, start - n * CHUNK_BYTES)
          yield bytes.subarray(from, Math.min(bytes.length, end + 1 - n * CHUNK_BYTES))
        }
      })()
    },
    async delete(blob) {
      const { numDeletedRows } = await db
        .deleteFrom('uploads_chunk')
        .where('blob', '=', blob)
        .executeTakeFirstOrThrow()
      return numDeletedRows > 0n
    },
    async *uploads() {
      for (let last = ''; ;) {
        const rows = await db
          .selectFrom('uploads_chunk')
          .select('blob')
          // Includes uploads without their first chunk: a write that was reported as lost may still arrive.
          .distinct()
          .where('blob', '>', last)
          .orderBy('blob')
          .limit(LISTED)
          .execute()
        for (const { blob } of rows) {
          const [upload] = partsOf(blob)
          if (!last.startsWith(upload)) yield upload
          last = blob
        }
        if (rows.length < LISTED) return
      }
    },
  }
}
