/** Validates files that a program puts into the inbox, with the limits of a request. */
import { Readable } from 'node:stream'
import { checkObjectKeys } from 'jobmill/internal'
import { invalid } from '../../invalid.ts'
import { Refusal } from '../../refusal.ts'
import type { MailboxLimits } from '../limits.ts'
import type { Incoming } from './take-in.ts'

export interface NewFile {
  readonly name: string
  /** Such as `image/png`. Omit it if the type is unknown. */
  readonly type?: string
  /** Text is written as UTF-8. A stream is read once, while the file is stored. */
  readonly bytes: Uint8Array | string | AsyncIterable<Uint8Array>
}

/** Checks the files at once, and their sizes while they are read. */
export function incoming(files: readonly NewFile[], limits: MailboxLimits): AsyncIterable<Incoming> {
  const { maxFiles, maxRequestBytes } = limits
  if (!Array.isArray(files) || files.length === 0)
    throw invalid('files', files, 'must be a non-empty array', 'Pass an array of { name, type, bytes }')
  if (files.length > maxFiles)
    throw new Refusal('FILES_TOO_MANY', {
      field: 'files',
      detail: `${files.length} files (max ${maxFiles})`,
      fix: 'Send the files in several calls',
      max: maxFiles,
    })
  const checked = files.map((file: NewFile, n) => checkFile(file, `files[${n}]`))
  let total = 0
  async function* counted(name: string, bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    for await (const chunk of bytes) {
      total += chunk.length
      if (total > maxRequestBytes)
        throw new Refusal('REQUEST_TOO_LARGE', {
          detail: `the files have more than ${maxRequestBytes} bytes in total`,
          fix: 'Send the files in several calls',
          file: name,
          size: total,
          max: maxRequestBytes,
        })
      yield chunk
    }
  }
  return (async function* () {
    for (const file of checked) yield { ...file, bytes: counted(file.name, file.bytes) }
  })()
}

function checkFile(file: NewFile, field: string): Incoming {
  checkObjectKeys(file, field, ['name', 'type', 'bytes'])
  const { name, type = '', bytes } = file as { name: unknown; type?: unknown; bytes: unknown }
  if (typeof name !== 'string')
    throw invalid(`${field}.name`, name, 'must be a string', 'Pass the name of the file')
  if (typeof type !== 'string')
    throw invalid(`${field}.type`, type, 'must be a string', "Pass a type such as 'image/png', or omit it")
  const whole = typeof bytes === 'string' ? Buffer.from(bytes) : bytes
  if (whole instanceof Uint8Array)
    return { name, type, declared: whole.length, bytes: Readable.from([whole]) }
  if (typeof whole === 'object' && whole !== null && Symbol.asyncIterator in whole)
    return { name, type, declared: null, bytes: whole as AsyncIterable<Uint8Array> }
  const what = 'must be a Uint8Array, a string or a stream'
  throw invalid(`${field}.bytes`, bytes, what, 'Pass the content of the file')
}
