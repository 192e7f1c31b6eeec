/**
 * Idempotency keys: the first request to commit is the upload. A retry with the same files gets its response;
 * a request with other files is refused.
 */
import type { Kysely } from 'jobmill-tables'
import { Refusal } from '../../refusal.ts'
import type { Schema } from '../../tables/schema.ts'

const LONGEST_KEY = 200

export function checkKey(key: unknown, field: string): string {
  if (typeof key === 'string' && key.length <= LONGEST_KEY && /^[\x21-\x7e]+$/.test(key)) return key
  throw new Refusal('KEY_INVALID', {
    field,
    detail: `must be 1 to ${LONGEST_KEY} visible ASCII characters`,
    fix: 'Use a UUID, for example',
  })
}

export interface Answer {
  readonly upload: string
  readonly files: readonly AnsweredFile[]
}

export interface AnsweredFile {
  readonly id: string
  readonly uri: string
  readonly name: string
  readonly mimeType: string
  readonly size: number
  readonly sha256: string
  readonly expiresAt: string
}

export interface Earlier {
  readonly fingerprint: string
  readonly answer: Answer
}

export async function earlierOf(db: Kysely<Schema>, mailbox: string, key: string): Promise<Earlier | null> {
  const row = await db
    .selectFrom('uploads_upload')
    .select(['fingerprint', 'answer'])
    .where('mailbox', '=', mailbox)
    .where('idempotency_key', '=', key)
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
