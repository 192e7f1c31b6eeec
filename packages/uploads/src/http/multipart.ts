/**
 * Streams the files of a multipart body, one after the other. The body pauses while the current file is not
 * read, so that at most a chunk or two are in memory.
 */
import type { Readable } from 'node:stream'
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import type { MailboxLimits } from '../inbox/limits.ts'
import type { Incoming } from '../inbox/receive/take-in.ts'
import { cleanName } from '../clean/clean-name.ts'
import { Refusal } from '../refusal.ts'
import { type Arrivals, arrivals } from './arrivals.ts'
import { letGo } from './let-go.ts'
import { partHeadersOf } from './part-headers.ts'
import type { Turn } from './turns.ts'

const PART = 'files'
const FIELDS = 16
const FIELD_BYTES = 4_096
const HEADER_BYTES = 16 * 1_024
const HOLD_BYTES = 64 * 1_024

/** Read it to the end or return from it, which discards the rest of the body. */
export async function* filesOf(
  request: Request,
  limits: MailboxLimits,
  signal: AbortSignal,
  turn: Turn,
): AsyncGenerator<Incoming, void, undefined> {
  const type = request.headers.get('content-type') ?? ''
  if (!/^multipart\/form-data\s*(?:;|$)/i.test(type))
    throw new Refusal('MEDIA_TYPE_WRONG', { field: 'Content-Type' })
  const declared = declaredBy(request)
  if (declared !== null && declared > limits.maxRequestBytes)
    throw bodyTooLarge(limits.maxRequestBytes, declared, { isDeclared: true, file: null })
  const found = arrivals(() => broken('a part cannot be read'))
  const parser = parserFor(type)
  listenTo(parser, found, limits.maxFiles)
  const onAbort = (): void => {
    found.fail(reasonOf(signal))
    turn.end()
  }
  signal.addEventListener('abort', onAbort)
  let body: ReadableStreamDefaultReader<Uint8Array> | null = null
  try {
    if (signal.aborted) onAbort()
    // Reads nothing from the socket before its turn.
    else await turn.mine()
    const stream = request.body as ReadableStream<Uint8Array> | null
    if (stream === null) throw broken('the body is missing')
    body = stream.getReader()
    // Not awaited, because a stalled body may never end. Any error fails the whole request.
    pump(body, parser, found, limits.maxRequestBytes, turn).catch((error: unknown) =>
      found.fail(error instanceof Refusal ? error : broken('the body ended too early', error)),
    )
    for (let n = 0; ; n += 1) {
      const file = await found.next(n)
      if (file === null) return
      const { name, declared } = file
      yield { name, type: file.type, declared, bytes: orFailure(file.stream, found.failure) }
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    found.fail(new Error('the body is no longer read'))
    turn.end()
    if (body !== null) void letGo(body)
  }
}

function listenTo(parser: BusboyInstance, found: Arrivals, maxFiles: number): void {
  const { fail } = found
  let files = 0
  const headers = partHeadersOf(parser)
  parser
    .on('file', (field: string | undefined, stream, name: string | undefined, _, mime) => {
      // The reader gets it through `fail`.
      stream.on('error', (error) => fail(broken(error.message, error)))
      files += 1
      if (field !== PART) return fail(unknownPart(field))
      if (files > maxFiles) return fail(tooMany(maxFiles))
      const { hasType, declared } = headers()
      found.add({ name: decoded(name ?? ''), type: hasType ? mime : '', declared, stream })
    })
    .on('field', (field: string | undefined) => {
      if (field === PART) fail(broken('a part named files has no filename'))
    })
    .on('fieldsLimit', () => fail(broken(`there are more than ${FIELDS} fields`)))
    .on('error', (error) =>
      fail(broken(error instanceof Error ? error.message : 'the body is malformed', error)),
    )
    .on('finish', () => found.end())
}

/**
 * Decodes the three characters that browsers escape in names according to the HTML standard, and nothing
 * else.
 */
function decoded(name: string): string {
  return name.replaceAll(/%(?:22|0d|0a)/gi, (code) =>
    String.fromCodePoint(Number.parseInt(code.slice(1), 16)),
  )
}

/** Reads the next chunk when the parser has consumed this one. */
async function pump(
  body: ReadableStreamDefaultReader<Uint8Array>,
  parser: BusboyInstance,
  found: Arrivals,
  maxBytes: number,
  turn: Turn,
): Promise<void> {
  let size = 0
  while (found.failure() === null) {
    await turn.mine()
    const { done, value } = await turn.during(body.read())
    if (found.failure() !== null) return
    if (done) return found.feeding(new Promise((ended) => parser.once('finish', ended).end()))
    size += value.length
    // The Content-Length was smaller or missing.
    if (size > maxBytes) throw bodyTooLarge(maxBytes, size, { isDeclared: false, file: found.lastName() })
    await found.feeding(new Promise((taken) => parser.write(value, () => taken())))
  }
}

/** A destroyed stream ends with a generic error, so report the original failure. */
async function* orFailure(stream: Readable, failure: () => Error | null): AsyncIterable<Uint8Array> {
  try {
    for await (const chunk of stream) yield chunk as Uint8Array
  } catch (error) {
    throw failure() ?? error
  }
}

/** The client disconnected, or this process is stopping. */
export function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Refusal ? reason : broken('the request was aborted')
}

function parserFor(type: string): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': type },
      fileHwm: HOLD_BYTES,
      preservePath: true,
      limits: { fields: FIELDS, fieldSize: FIELD_BYTES, headerSize: HEADER_BYTES, headerPairs: 32 },
    })
  } catch (error) {
    throw broken(error instanceof Error ? error.message : 'the boundary is missing', error)
  }
}

function declaredBy({ headers }: Request): number | null {
  const given = headers.get('content-length')
  return given === null ? null : Number(given)
}

/** `size`: the declared size, or the bytes received so far. `file`: the file that was being read. */
function bodyTooLarge(
  max: number,
  size: number,
  { isDeclared, file }: { readonly isDeclared: boolean; readonly file: string | null },
): Refusal {
  return new Refusal('REQUEST_TOO_LARGE', {
    detail: isDeclared ? `the body has ${size} bytes (max ${max})` : `the body is larger than ${max} bytes`,
    field: isDeclared ? 'Content-Length' : PART,
    fix: 'Send fewer or smaller files per request',
    file: file === null ? null : cleanName(file),
    size,
    max,
  })
}

function tooMany(max: number): Refusal {
  return new Refusal('FILES_TOO_MANY', {
    detail: `more than ${max} files`,
    field: PART,
    fix: 'Send the files in several requests',
    max,
  })
}

function unknownPart(given = ''): Refusal {
  const field = given.slice(0, 100).toWellFormed()
  return new Refusal('PART_UNKNOWN', { detail: `a part named ${JSON.stringify(field)} has a file`, field })
}

function broken(detail: string, cause?: unknown): Refusal {
  return new Refusal('MULTIPART_BROKEN', { detail: detail.slice(0, 200) }, cause)
}
