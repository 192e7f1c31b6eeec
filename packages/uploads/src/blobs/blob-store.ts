/**
 * Where the bytes of files are. Small on purpose: nothing is renamed or changed, so that a store of objects behind a network fits too. An id is
 * `<upload>/<n>`, made by the inbox and never by a sender.
 */
import type { ByteRange } from '../clean/byte-range.ts'
import type { Reserve } from './reserve.ts'

export interface BlobStore {
  /** For people. */
  readonly name: string
  /** Makes it usable, and says no where it never will be. `inbox` is the id of the one in the database: what belongs to another is refused. */
  readonly open: (inbox: string) => Promise<void>
  /** Durable when it resolves. When it rejects, something may be left, which `delete` takes away. */
  readonly write: (id: string, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal) => Promise<void>
  /** Rejects with `BlobMissing` before the first byte when there is none. */
  readonly read: (id: string, range: ByteRange) => Promise<AsyncIterable<Uint8Array>>
  /** Whether there was anything, also half of one. Deleting what is not there is no error. */
  readonly delete: (id: string) => Promise<boolean>
  /** Every upload that has blobs, also half of one, in any order and one after the other: there may be millions. */
  readonly uploads: () => AsyncIterable<string>
  /** Of a place that may share its disk with the database. */
  readonly reserve?: Reserve
}

export class BlobMissing extends Error {
  constructor(id: string) {
    super(`there is no blob ${id}`)
    this.name = 'BlobMissing'
  }
}

export const UPLOAD = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/
const ID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\/\d{1,3}$/

/** The two parts. Nothing else becomes a path. */
export function partsOf(id: string): [upload: string, n: string] {
  if (!ID.test(id)) throw new Error('that is the id of no blob')
  const slash = id.indexOf('/')
  return [id.slice(0, slash), id.slice(slash + 1)]
}
