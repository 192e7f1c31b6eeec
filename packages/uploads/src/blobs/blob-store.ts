/**
 * The store of file contents. Its interface is small, without renames or updates, so that an object store can
 * implement it too. An id is `<upload>/<n>`, made by the inbox and never by a sender.
 */
import type { ByteRange } from '../clean/byte-range.ts'
import type { Reserve } from './reserve.ts'

export interface BlobStore {
  /** A description for people. */
  readonly name: string
  /**
   * Prepares the store, and rejects if it is unusable. `inbox` is the id of the inbox in the database; a
   * store that belongs to another inbox is refused.
   */
  readonly open: (inbox: string) => Promise<void>
  /** Durable when it resolves. After a rejection, a partial blob may remain, which `delete` removes. */
  readonly write: (id: string, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal) => Promise<void>
  /** Rejects with `BlobMissing` before the first byte if the blob does not exist. */
  readonly read: (id: string, range: ByteRange) => Promise<AsyncIterable<Uint8Array>>
  /** Returns whether anything existed, even a partial blob. Deleting a missing blob is not an error. */
  readonly delete: (id: string) => Promise<boolean>
  /**
   * Streams the ids of all uploads with blobs, partial ones included, in any order. There may be millions.
   */
  readonly uploads: () => AsyncIterable<string>
  /** Disk space to free for the database, if the blobs may share its disk. */
  readonly reserve?: Reserve
}

export class BlobMissing extends Error {
  constructor(id: string) {
    super(`blob ${id} does not exist`)
    this.name = 'BlobMissing'
  }
}

export const UPLOAD = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/
const ID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\/\d{1,3}$/

/** Validates the id and splits it, because its parts become a path. */
export function partsOf(id: string): [upload: string, n: string] {
  if (!ID.test(id)) throw new Error('invalid blob id')
  const slash = id.indexOf('/')
  return [id.slice(0, slash), id.slice(slash + 1)]
}
