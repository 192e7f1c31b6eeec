/** One file on its way in: counted against everything that bounds it, hashed, and handed on a chunk at a time. */
import { createHash } from 'node:crypto'
import { cleanName } from '../clean/clean-name.ts'
import { cleanType } from '../clean/clean-type.ts'
import { Refusal } from '../refusal.ts'
import type { MailboxLimits } from './limits.ts'
import { checkQuota, type Usage } from './quota.ts'

/** As it comes from a request. Its bytes have to be read before the next one. */
export interface Incoming {
  readonly name: string
  readonly type: string
  /** What whoever sends it says its size is, which may be wrong; null where that is not said. */
  readonly declared: number | null
  readonly bytes: AsyncIterable<Uint8Array>
}

export interface TakenIn {
  readonly name: string
  readonly type: string
  readonly size: number
  readonly sha256: string
}

export interface Bounds {
  readonly limits: MailboxLimits
  /** What the mailbox had when the request came. Null for a repeat, which adds nothing. */
  readonly used: Usage | null
}

/** `before` is what the same request has brought already. */
export async function takeIn(
  file: Incoming,
  before: Usage,
  { limits, used }: Bounds,
  write: (bytes: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<TakenIn> {
  const name = cleanName(file.name)
  const { maxFileBytes } = limits
  if (file.declared !== null && file.declared > maxFileBytes)
    throw tooLarge(
      name,
      `has ${file.declared} bytes, of ${maxFileBytes} that it may have`,
      file.declared,
      maxFileBytes,
    )
  const hash = createHash('sha256')
  let size = 0
  async function* counted(): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of file.bytes) {
      size += chunk.length
      // Whatever was said. How large it is nobody knows: it is not read to its end.
      if (size > maxFileBytes)
        throw tooLarge(name, `is larger than ${maxFileBytes} bytes`, size, maxFileBytes)
      if (used !== null) checkQuota(used, { files: before.files + 1, bytes: before.bytes + size }, limits)
      hash.update(chunk)
      yield chunk
    }
  }
  await write(counted())
  if (size === 0)
    throw new Refusal('FILE_EMPTY', {
      detail: `${name} has no bytes`,
      field: 'files',
      fix: 'Leave it out',
      file: name,
    })
  return { name, type: cleanType(file.type), size, sha256: hash.digest('hex') }
}

/** `size`: what was declared, or what had come by then. */
function tooLarge(name: string, words: string, size: number, max: number): Refusal {
  return new Refusal('FILE_TOO_LARGE', {
    detail: `${name} ${words}`,
    field: 'files',
    fix: 'Send it in parts, or have the limit of the mailbox raised',
    file: name,
    size,
    max,
  })
}
