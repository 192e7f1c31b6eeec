/**
 * Idempotency keys: the first request to commit is the upload. A retry with the same files gets its response;
 * a request with other files is refused.
 */
import type { Kysely } from 'jobmill-tables'
import { Refusal } from '../../refusal.ts'
import type { Schema } from '../../tables/schema.ts'
import type { FileView } from '../deliver/file-view.ts'

const LONGEST_KEY = 200

export function checkKey(key: unknown, field: string): string {
  if (typeof key === 'string' && key.length <= LONGEST_KEY && /^[\x21-\x7e]+$/.test(key)) return key
  throw new Refusal('KEY_INVALID', { field, detail: `must be 1 to ${LONGEST_KEY} visible ASCII characters` })
}

export interface Answer {
  readonly upload: string
  readonly files: readonly AnsweredFile[]
}

export type AnsweredFile = Pick<
  FileView,
  'id' | 'uri' | 'name' | 'mimeType' | 'size' | 'sha256' | 'expiresAt'
>

export type Earlier = NonNullable<Awaited<ReturnType<typeof earlierOf>>>

/** A committed upload by its id, or by its key. Null if there is none. */
export async function earlierOf(
  db: Kysely<Schema>,
  by: { readonly id: string } | { readonly mailbox: string; readonly idempotency_key: string },
) {
  const row = await db
    .selectFrom('uploads_upload')
    .select(['fingerprint', 'answer'])
    .where((where) => where.and(by))
    .executeTakeFirst()
  return row === undefined ? null : { fingerprint: row.fingerprint, answer: JSON.parse(row.answer) as Answer }
}

export function sameOrRefused({ fingerprint, answer }: Earlier, print: string): Answer {
  if (fingerprint === print) return answer
  throw new Refusal('KEY_REUSED', {
    detail: 'an earlier upload with this key had different files',
    field: 'Idempotency-Key',
    fix: 'Use a new key for each upload, and reuse a key only to retry with the same files',
  })
}

/** An upload with this key exists. */
export class Repeated extends Error {}

/** Whether an upload with this key was found, or the unique index reported it. */
export function isRepeated(error: unknown): boolean {
  if (error instanceof Repeated) return true
  if (!(error instanceof Error) || !('code' in error)) return false
  if (error.code === '23505') return 'constraint' in error && error.constraint === 'uploads_upload_key'
  return error.code === 'SQLITE_CONSTRAINT_UNIQUE' && error.message.includes('idempotency_key')
}
