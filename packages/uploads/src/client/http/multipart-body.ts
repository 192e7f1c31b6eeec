/** Streams files from disk as a multipart body. */
import { createReadStream } from 'node:fs'
import { cleanType } from '../../clean/clean-type.ts'

export interface Part {
  readonly path: string
  readonly name: string
  readonly type: string
}

/** A generous estimate of the size of a part without its content. */
export function overheadOf({ name, type }: Pick<Part, 'name' | 'type'>): number {
  return 300 + 3 * Buffer.byteLength(name) + type.length
}

/** `tell` is called with the number of file bytes sent and the current file. */
export async function* bodyOf(
  parts: readonly Part[],
  boundary: string,
  tell: (bytes: number, path: string) => void,
): AsyncIterable<Uint8Array> {
  let sent = 0
  for (const { path, name, type } of parts) {
    const kind = cleanType(type)
    yield Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="files"; filename="${quoted(name)}"\r\n${
        kind === '' ? '' : `Content-Type: ${kind}\r\n`
      }\r\n`,
    )
    tell(sent, path)
    for await (const chunk of createReadStream(path)) {
      yield chunk as Uint8Array
      sent += (chunk as Uint8Array).length
      tell(sent, path)
    }
    yield Buffer.from('\r\n')
  }
  yield Buffer.from(`--${boundary}--\r\n`)
}

/** Escapes a name as browsers do. */
function quoted(name: string): string {
  return name.toWellFormed().replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}
