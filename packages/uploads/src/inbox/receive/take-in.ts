/** Checks one incoming file against all limits, hashes it, and passes it on chunk by chunk. */
import { createHash } from 'node:crypto'
import { cleanName } from '../../clean/clean-name.ts'
import { cleanType } from '../../clean/clean-type.ts'
import { Refusal } from '../../refusal.ts'
import type { FileRow } from '../deliver/file-view.ts'
import type { MailboxLimits } from '../limits.ts'
import { checkQuota, type Usage } from './quota.ts'

/** An incoming file. Read its bytes before requesting the next one. */
export interface Incoming {
  readonly name: string
  readonly type: string
  /** The size that the sender declared, which may be wrong; null for none. */
  readonly declared: number | null
  readonly bytes: AsyncIterable<Uint8Array>
}

export type TakenIn = Readonly<Pick<FileRow, 'name' | 'type' | 'size' | 'sha256'>>

export interface Bounds {
  readonly limits: MailboxLimits
  /** The usage of the mailbox when the request arrived. Null for a retry, which adds nothing. */
  readonly used: Usage | null
}

/** `before` is the total of the earlier files of this request. */
export async function takeIn(
  file: Incoming,
  before: Usage,
  { limits, used }: Bounds,
  write: (bytes: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<TakenIn> {
  const name = cleanName(file.name)
  const { maxFileBytes } = limits
  if (file.declared !== null && file.declared > maxFileBytes)
    throw tooLarge(name, `has ${file.declared} bytes (max ${maxFileBytes})`, file.declared, maxFileBytes)
  const hash = createHash('sha256')
  let size = 0
  async function* counted(): AsyncIterable<Uint8Array> {
    for await (const chunk of file.bytes) {
      size += chunk.length
      // Checked whatever was declared. The full size is unknown, because the file is not read to its end.
      if (size > maxFileBytes)
        throw tooLarge(name, `is larger than ${maxFileBytes} bytes`, size, maxFileBytes)
      if (used !== null) checkQuota(used, { files: before.files + 1, bytes: before.bytes + size }, limits)
      hash.update(chunk)
      yield chunk
    }
  }
  await write(counted())
  if (size === 0) throw new Refusal('FILE_EMPTY', { detail: `${name} is empty`, field: 'files', file: name })
  return { name, type: cleanType(file.type), size, sha256: hash.digest('hex') }
}

/** `size`: the declared size, or the bytes received so far. */
function tooLarge(name: string, words: string, size: number, max: number): Refusal {
  return new Refusal('FILE_TOO_LARGE', { detail: `${name} ${words}`, field: 'files', file: name, size, max })
}
