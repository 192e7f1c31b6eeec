/** Makes one Bot API call and classifies its outcome. */
import { type Api, GrammyError, HttpError } from 'grammy'
import { BOUNDS } from 'jobmill/internal'

type Called =
  | { readonly outcome: 'sent'; readonly result: unknown }
  /** Status 429: nothing was done, and the bot must wait this long. */
  | { readonly outcome: 'throttled'; readonly retryAfterMs: number }
  /** The group has become a supergroup with another id. */
  | { readonly outcome: 'moved'; readonly chatId: number }
  /** The call can never succeed, for example because the bot was blocked or the text is too long. */
  | { readonly outcome: 'refused'; readonly error: Error }
  /** Telegram rejects the token. All calls of this bot fail until it has a new one. */
  | { readonly outcome: 'revoked'; readonly error: Error }
  /** `mayHaveArrived`: Telegram may have executed the call. */
  | { readonly outcome: 'failed'; readonly error: Error; readonly mayHaveArrived: boolean }

export type Call = (method: string, payload: Readonly<Record<string, unknown>>) => Promise<Called>

/** Errors before a connection was established: Telegram did not receive the call. */
const NOT_CONNECTED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH'])
const NOT_SAID_MS = 5_000
/** The longest pause that a queue accepts. If Telegram asks for more, the next call reports it again. */
const LONGEST_WAIT_MS = BOUNDS.retryAfterMs

export function callOf(api: Api): Call {
  return async (method, payload) => {
    const raw = api.raw as unknown as Record<string, (payload: unknown) => Promise<unknown>>
    try {
      const send = raw[method]
      if (send === undefined) throw new TypeError(`the Bot API has no method ${method}`)
      return { outcome: 'sent', result: await send(payload) }
    } catch (error) {
      return meaningOf(error)
    }
  }
}

function meaningOf(error: unknown): Called {
  if (error instanceof GrammyError) {
    const { error_code: code, parameters } = error
    if (code === 429) return { outcome: 'throttled', retryAfterMs: retryAfterMs(error) ?? NOT_SAID_MS }
    if (parameters.migrate_to_chat_id !== undefined)
      return { outcome: 'moved', chatId: parameters.migrate_to_chat_id }
    if (code === 401 || (code === 404 && !isMethod(error))) return { outcome: 'revoked', error }
    if (code === 400 || code === 403 || code === 404) return { outcome: 'refused', error }
    return { outcome: 'failed', error, mayHaveArrived: code >= 500 }
  }
  if (error instanceof HttpError)
    return { outcome: 'failed', error, mayHaveArrived: !NOT_CONNECTED.has(codeOf(error.error)) }
  return { outcome: 'refused', error: error instanceof Error ? error : new Error(String(error)) }
}

/**
 * Telegram answers 404 for an unknown token and for an unknown method. Only the second description says so.
 */
function isMethod({ description }: GrammyError): boolean {
  return /method/i.test(description)
}

/** The wait that Telegram asked for; null if it asked for none. */
export function retryAfterMs(error: unknown): number | null {
  const seconds = error instanceof GrammyError ? error.parameters.retry_after : undefined
  return seconds === undefined ? null : Math.min(LONGEST_WAIT_MS, seconds * 1_000)
}

/** The system error code, such as ECONNREFUSED; empty for none. */
export function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
}
