/**
 * Responds with the bytes of a file: whole, a range, or headers only. A fetch counts when the last byte was
 * sent.
 */
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { byteRange } from '../clean/byte-range.ts'
import { UNKNOWN_TYPE } from '../clean/clean-type.ts'
import { disposition } from '../clean/disposition.ts'
import type { FileRow } from '../inbox/deliver/file-view.ts'
import { findFile, type FileRef, openBlob, stampFetch } from '../inbox/deliver/files.ts'
import type { Inside } from '../inbox/inside.ts'
import { Refusal } from '../refusal.ts'

export async function content(inside: Inside, request: Request, ref: FileRef): Promise<Response> {
  const row = await findFile(inside, ref)
  await inside.fault('fetch:read')
  const etag = `"${row.sha256}"`
  const headers = new Headers(headersOf(row, etag))
  const wanted = request.headers.get('if-match')
  if (wanted !== null && !tagsIn(wanted).some((one) => one === '*' || one === etag))
    throw new Refusal('ETAG_DIFFERS', { field: 'If-Match', detail: `the file has the ETag ${etag}` })
  if (matches(request.headers.get('if-none-match'), etag)) return new Response(null, { status: 304, headers })
  // A range applies to content, and HEAD has none.
  const isGet = request.method !== 'HEAD'
  const given = isGet && ifRangeHolds(request, etag) ? request.headers.get('range') : null
  const range = byteRange(given, row.size)
  if (range === 'unsatisfiable')
    throw new Refusal('RANGE_UNSATISFIABLE', {
      field: 'Range',
      detail: `the file has ${row.size} bytes`,
      fix: 'Request a range within the file',
      size: row.size,
      headers: { 'content-range': `bytes */${row.size}` },
    })
  const { start, end } = range ?? { start: 0, end: row.size - 1 }
  headers.set('content-length', String(end - start + 1))
  if (range !== null) headers.set('content-range', `bytes ${start}-${end}/${row.size}`)
  const status = range === null ? 200 : 206
  if (!isGet) return new Response(null, { status, headers })
  const bytes = await openBlob(inside, row, { start, end })
  const body = bodyOf(inside, bytes, { ref, size: end - start + 1, isLast: end === row.size - 1 })
  return new Response(body, { status, headers })
}

function headersOf(row: FileRow, etag: string): Record<string, string> {
  return {
    'content-type': row.type === '' ? UNKNOWN_TYPE : row.type,
    'content-disposition': disposition(row.name),
    // The type is untrusted: a browser must neither guess it nor run the content.
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    etag,
  }
}

function matches(header: string | null, etag: string): boolean {
  return header !== null && tagsIn(header).some((one) => one === '*' || one.replace(/^W\//, '') === etag)
}

function tagsIn(header: string): string[] {
  return header
    .slice(0, 4_096)
    .split(',')
    .map((one) => one.trim())
}

function ifRangeHolds({ headers }: Request, etag: string): boolean {
  const given = headers.get('if-range')
  return given === null || given.trim() === etag
}

/**
 * The server reads ahead before it sends the first byte, and takes an error at that point for the end of the
 * body. An error a moment later breaks the connection, as intended.
 */
const BREAK_AFTER_MS = 20

interface Sent {
  readonly ref: FileRef
  /** The Content-Length of the response. */
  readonly size: number
  /** Whether the response includes the last byte of the file. */
  readonly isLast: boolean
}

/**
 * Streams one chunk at a time on demand. A short or broken blob breaks the connection, so that the client
 * does not mistake it for the end.
 */
function bodyOf(
  inside: Inside,
  bytes: AsyncIterable<Uint8Array>,
  { ref, size, isLast }: Sent,
): ReadableStream {
  const chunks = bytes[Symbol.asyncIterator]()
  let left = size
  /** The client has disconnected. A read in flight then fails, which is not an error. */
  let isOver = false
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const next = await chunks.next()
          if (isOver) return
          if (next.done !== true) {
            left -= next.value.length
            return controller.enqueue(next.value)
          }
          if (left !== 0) throw new Error(`the blob has ${size - left} of ${size} bytes`)
        } catch (error) {
          if (isOver) return
          inside.onError(error, `sending the content of file ${ref.file}`)
          await sleep(BREAK_AFTER_MS)
          return controller.error(error)
        }
        if (isLast) await stamp(inside, ref)
        controller.close()
      },
      async cancel() {
        isOver = true
        // An unread stream does not end on its own.
        if (bytes instanceof Readable) bytes.destroy()
        await chunks.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}

/** The content was sent, so a failure here is only logged. */
async function stamp(inside: Inside, ref: FileRef): Promise<void> {
  try {
    await inside.fault('fetch:sent')
    await stampFetch(inside, ref)
    await inside.fault('fetch:stamped')
  } catch (error) {
    inside.onError(error, `recording the fetch of file ${ref.file}`)
  }
}
