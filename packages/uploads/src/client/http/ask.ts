/** Sends one request to the inbox, with a timeout. Errors say whether a retry makes sense. */
import { ClientError, textOf } from './client-error.ts'

/** The connection to one mailbox. */
export interface Line {
  /** Includes the mailbox: `https://inbox.example/mailboxes/ID`. */
  readonly address: string
  readonly mailbox: string
  readonly token: () => Promise<string>
}

export interface Question {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** A stream calls `alive` to report progress. */
  readonly body?: string | ((alive: () => void) => AsyncIterable<Uint8Array>)
  /** Maximum time to wait for the response. Each call to `alive` restarts it. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** `read` consumes the response; `alive` restarts the timeout. */
export async function ask<T>(
  line: Line,
  path: string,
  { timeoutMs, signal, ...question }: Question,
  read: (response: Response, alive: () => void) => Promise<T>,
): Promise<T> {
  const token = await line.token()
  const call = new AbortController()
  const onStop = (): void => call.abort(signal.reason)
  const timer = setTimeout(() => call.abort(tooSlow(timeoutMs)), timeoutMs)
  const alive = (): void => void timer.refresh()
  const { body } = question
  const sent = typeof body === 'function' ? ReadableStream.from(body(alive)) : body
  signal.addEventListener('abort', onStop)
  try {
    signal.throwIfAborted()
    const response = await fetch(`${line.address}${path}`, {
      method: question.method ?? 'GET',
      ...(sent !== undefined && { body: sent, duplex: 'half' }),
      // Do not follow redirects, which would leak the token. Refuse compression, because the bytes are
      // hashed.
      redirect: 'manual',
      headers: { 'accept-encoding': 'identity', ...question.headers, authorization: `Bearer ${token}` },
      signal: call.signal,
    }).catch((error: unknown) => {
      throw unreachable(error)
    })
    if (!response.ok) throw await refusalOf(response)
    return await read(response, alive)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onStop)
    // Discards an unread body.
    call.abort()
  }
}

/** Streams a body. A broken connection is reported as an error of the connection, not of the consumer. */
export async function* chunksOf(
  response: Response,
  alive: (bytes: number) => void,
): AsyncIterable<Uint8Array> {
  const body = response.body as ReadableStream<Uint8Array> | null
  if (body === null) return
  const reader = body.getReader()
  for (;;) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      throw unreachable(error)
    })
    if (done) return
    alive(value.length)
    yield value
  }
}

/** Longer than any response of an inbox. */
const MOST_TEXT_BYTES = 16 * 1_024 * 1_024

export async function jsonOf(response: Response): Promise<Record<string, unknown>> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunksOf(response, () => {})) {
    size += chunk.length
    if (size > MOST_TEXT_BYTES) throw badAnswer('is larger than any response of an inbox')
    chunks.push(chunk)
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString())
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>
  } catch {
    // Reported below.
  }
  throw badAnswer('is not a JSON object')
}

export function badAnswer(what: string): ClientError {
  return new ClientError('ANSWER_BAD', `the response ${what}`, {
    fix: 'Check that the URL is that of an inbox, and check the proxies between this machine and the inbox',
  })
}

async function refusalOf(response: Response): Promise<ClientError> {
  const { status, headers } = response
  if (status < 400)
    return new ClientError('REFUSED', `the inbox responded with ${status}, a redirect`, {
      field: 'url',
      fix: 'Use the URL that it redirects to',
      status,
    })
  const said = await jsonOf(response).catch((): Record<string, unknown> => ({}))
  const word = (name: string): string | undefined =>
    typeof said[name] === 'string' ? said[name].slice(0, 300) : undefined
  const reason = word('detail') ?? word('title') ?? 'no reason given'
  return new ClientError('REFUSED', `the inbox responded with ${status}: ${reason}`, {
    status,
    serverCode: word('code'),
    fix: word('fix'),
    retryAfterMs: (Number(headers.get('retry-after')) || 0) * 1_000,
  })
}

function tooSlow(ms: number): ClientError {
  return new ClientError('UNREACHABLE', `the connection made too little progress in ${ms / 1_000} s`, {
    fix: 'Check the network and the proxies between this machine and the inbox, then retry',
  })
}

function unreachable(error: unknown): unknown {
  if (error instanceof ClientError) return error
  const { cause } = error instanceof Error ? error : { cause: undefined }
  const why = cause instanceof Error && cause.message !== '' ? cause.message : textOf(error)
  return new ClientError('UNREACHABLE', `the inbox is unreachable: ${why}`, {
    cause: error,
    fix: 'Check the URL, the network, and that the inbox is running, then retry',
  })
}
