/** One call of the HTTP API, which is resent while that is safe and no answer has arrived. */
import { sleep } from '../platform/sleep.ts'
import type { WebPlatform } from '../platform/web-platform.ts'
import { ClientError, type ClientErrorCode } from './client-error.ts'
import type { ClientOptions } from './types.ts'

/** After this, a request without an answer is aborted and resent. */
const TRY_MS = 10_000
export const DEFAULT_TIMEOUT_MS = 30_000
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000

interface Request {
  readonly path: string
  /** Sent with POST. Without a body, the method is GET. */
  readonly body?: object
  /** How to repeat the call. Omitted: a second request would have an effect of its own. */
  readonly repeat?: string
  readonly timeoutMs?: number
  readonly signal?: AbortSignal | undefined
}

export type Call = (request: Request) => Promise<unknown>

interface Failure {
  readonly error: ClientError
  /** Whether the request may have been executed. */
  readonly isUnknown: boolean
  readonly waitMs?: number
}

export function callWith(options: ClientOptions, platform: WebPlatform): Call {
  const { token, timeoutMs: defaultMs = DEFAULT_TIMEOUT_MS, fetch: send = fetch } = options
  const base = options.url.replace(/\/+$/, '')

  async function tryOnce(
    { path, body }: Request,
    signal: AbortSignal,
  ): Promise<{ answer: unknown } | Failure> {
    const given = typeof token === 'function' ? await token() : token
    const headers: Record<string, string> = { accept: 'application/json' }
    if (given !== undefined) headers['authorization'] = `Bearer ${given}`
    if (body !== undefined) headers['content-type'] = 'application/json'
    const init = body === undefined ? {} : { method: 'POST', body: textOf(body) }
    let response: Response
    let text: string
    try {
      response = await send(`${base}/api${path}`, { ...init, headers, signal })
      text = await response.text()
    } catch (cause) {
      return { error: unreachable('no answer arrived', { cause }), isUnknown: true }
    }
    return answerOf(response, text)
  }

  return async (request) => {
    const { signal, repeat, body } = request
    const timeoutMs = Math.min(defaultMs, request.timeoutMs ?? defaultMs)
    const from = platform.monotonic()
    let pauseMs = FIRST_PAUSE_MS
    let isUnknown = false
    let last: ClientError | undefined
    for (;;) {
      signal?.throwIfAborted()
      const leftMs = Math.max(0, timeoutMs - (platform.monotonic() - from))
      const late = new AbortController()
      const timer = platform.timer(Math.min(TRY_MS, leftMs), () =>
        late.abort(new Error('the request took too long')),
      )
      const tried = await tryOnce(
        request,
        signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]),
      ).finally(() => timer.cancel())
      if ('answer' in tried) return tried.answer
      signal?.throwIfAborted()
      // The network error of an earlier try says more than the end of the time.
      const error = late.signal.aborted ? (last ?? tried.error) : tried.error
      last = error
      isUnknown ||= tried.isUnknown && body !== undefined
      const waitMs = Math.max(pauseMs / 2 + (pauseMs / 2) * platform.random(), tried.waitMs ?? 0)
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)
      const isOver = platform.monotonic() - from + waitMs > timeoutMs
      if (!error.retryable || isOver || (isUnknown && repeat === undefined))
        throw isUnknown ? outcomeUnknown(request, error) : error
      await sleep(platform, waitMs, signal)
    }
  }
}

function textOf(body: object): string {
  try {
    return JSON.stringify(body)
  } catch (cause) {
    const message = 'payload: cannot be stored as JSON. Remove cycles and bigints.'
    throw new ClientError('PAYLOAD_NOT_JSON', message, { field: 'payload', cause })
  }
}

function answerOf(response: Response, text: string): { answer: unknown } | Failure {
  const { ok, status, headers } = response
  const isJson = (headers.get('content-type') ?? '').includes('json')
  try {
    const answer: unknown = isJson ? JSON.parse(text) : null
    if (isJson && ok) return { answer }
    if (isProblem(answer)) return problemOf(response, answer)
  } catch (cause) {
    return { error: unreachable('the answer was cut off', { cause }), isUnknown: true }
  }
  // A proxy answered. From 500 on, the API may have executed the request.
  const fix = 'Pass the address of jobmill-server, with its basePath, as url'
  const error = unreachable(`something other than the HTTP API answered with status ${status}`, {
    fix,
    status,
  })
  return { error, isUnknown: status >= 500 }
}

interface Problem {
  readonly code: ClientErrorCode
  readonly title: string
  readonly detail?: string
  readonly field?: string
  readonly fix?: string
  readonly index?: number
}

function isProblem(answer: unknown): answer is Problem {
  return typeof (answer as Problem | null)?.code === 'string'
}

function problemOf(
  { status, headers }: Response,
  { code, title, detail, field, fix, index }: Problem,
): Failure {
  const what = detail ?? title
  // Errors of the library name the field and the fix in their text.
  const subject = field === undefined || what.startsWith(field) ? '' : `${field}: `
  const then = fix === undefined || what.includes(fix) ? '' : ` ${ended(fix)}`
  const waitMs = 1_000 * (Number(headers.get('retry-after')) || 0)
  const error = new ClientError(code, `${subject}${ended(what)}${then}`, { field, fix, index, status })
  return { error, isUnknown: code === 'OUTCOME_UNKNOWN', waitMs }
}

function ended(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`
}

function unreachable(
  what: string,
  details: { readonly cause?: unknown; readonly fix?: string; readonly status?: number },
): ClientError {
  const { fix = 'Check the url, the network and the server' } = details
  return new ClientError('API_UNREACHABLE', `url: ${what}. ${fix}.`, { field: 'url', ...details, fix })
}

function outcomeUnknown({ repeat }: Request, cause: ClientError): ClientError {
  const fix = repeat ?? 'Check the job before you send the event again'
  const what = 'the request may or may not have been executed'
  return new ClientError('OUTCOME_UNKNOWN', `${what}: ${cause.message} ${fix}.`, { fix, cause })
}
