/**
 * Upload, fetch and acknowledge without HTTP, for the program that runs the inbox. It needs no token, but
 * limits and quotas apply.
 */
import { checkObjectKeys } from 'jobmill/internal'
import type { Kysely } from 'jobmill-tables'
import { invalid } from '../invalid.ts'
import { Refusal } from '../refusal.ts'
import { type Schema, WHOLE } from '../tables/schema.ts'
import { ack, type Acked } from './deliver/ack.ts'
import { type FileRow, fileView, type FileView } from './deliver/file-view.ts'
import { type FileRef, findFile, openBlob, stampFetch } from './deliver/files.ts'
import { idOf } from './ids.ts'
import { type Answer, checkKey } from './receive/idempotency.ts'
import type { Inside } from './inside.ts'
import { findLimits, limitsOf } from './limits.ts'
import { incoming, type NewFile } from './receive/new-files.ts'
import { receive } from './receive/receive.ts'

export interface PutOptions {
  /** A retry with the same files and the same key gets the first result. */
  readonly key?: string
  readonly signal?: AbortSignal
  /**
   * Your transaction on the database of the inbox, as for `mill.enqueue`: the files appear when it commits.
   */
  readonly tx?: unknown
}

export interface AckOptions {
  /** Must match the hash of the file. */
  readonly sha256?: string
  /** Your transaction: the file is acknowledged when it commits. */
  readonly tx?: unknown
}

/** Read `bytes` to the end to record the fetch. */
export type FetchedFile = FileView & { readonly bytes: AsyncIterable<Uint8Array> }

export type InCode = ReturnType<typeof inCode>

/** `during` tracks work that a stop waits for, and passes the signal that aborts it. */
export type During = <R>(work: (stopping: AbortSignal) => Promise<R>) => Promise<R>

export function inCode(inside: Inside, during: During) {
  const { tables } = inside
  const dbIn = (tx: unknown): Kysely<Schema> | undefined =>
    tx === undefined ? undefined : tables.within(tx, WHOLE)
  return {
    /** Stores all files or none. */
    async put(given: string, files: readonly NewFile[], options: PutOptions = {}): Promise<Answer> {
      checkObjectKeys(options, 'options', ['key', 'signal', 'tx'])
      const { tx, signal, key } = options
      const mailbox = idOf(given, 'mailbox')
      const db = dbIn(tx)
      const own = await findLimits(db ?? tables.db, mailbox)
      if (own === null) throw new Refusal('MAILBOX_UNKNOWN')
      const limits = limitsOf(own, inside.limits)
      const request = {
        mailbox,
        limits,
        token: null,
        key: key === undefined ? null : checkKey(key, 'key'),
        files: incoming(files, limits),
        ...(db !== undefined && { within: { db, tx: tx as never } }),
      }
      const { answer } = await during((stopping) =>
        receive(inside, { ...request, signal: AbortSignal.any(signal ? [stopping, signal] : [stopping]) }),
      )
      return answer
    },
    async get(mailbox: string, file: string): Promise<FetchedFile> {
      const ref = refOf(mailbox, file)
      const row = await findFile(inside, ref)
      return { ...fileView(row), bytes: bytesOf(inside, ref, row) }
    },
    async ack(mailbox: string, file: string, options: AckOptions = {}): Promise<Acked> {
      checkObjectKeys(options, 'options', ['sha256', 'tx'])
      const { tx, sha256 } = options
      const request = { ...refOf(mailbox, file), sha256: sha256 === undefined ? null : hashOf(sha256) }
      const db = dbIn(tx)
      if (db !== undefined) return ack(inside, request, db)
      return inside.room.forced(() => ack(inside, request))
    },
  }
}

async function* bytesOf(inside: Inside, ref: FileRef, row: FileRow): AsyncIterable<Uint8Array> {
  let size = 0
  for await (const chunk of await openBlob(inside, row, { start: 0, end: row.size - 1 })) {
    size += chunk.length
    yield chunk
  }
  if (size !== row.size) throw new Error(`the blob of file ${ref.file} has ${size} of ${row.size} bytes`)
  await stampFetch(inside, ref)
}

function refOf(mailbox: string, file: string): FileRef {
  return { mailbox: idOf(mailbox, 'mailbox'), file: idOf(file, 'file') }
}

function hashOf(given: unknown): string {
  if (typeof given === 'string' && /^[0-9a-f]{64}$/i.test(given)) return given.toLowerCase()
  throw invalid('sha256', given, 'must be a SHA-256 hash', 'Pass 64 hexadecimal digits, or omit it')
}
