/** One call of the Bot API, and what its answer means for whoever wanted it made. */
import { type Api, GrammyError, HttpError } from 'grammy'
import { BOUNDS } from 'jobmill'

type Called =
  | { readonly outcome: 'sent'; readonly result: unknown }
  /** 429: nothing was done, and nothing will be for so long. */
  | { readonly outcome: 'throttled'; readonly retryAfterMs: number }
  /** The chat has become another one. */
  | { readonly outcome: 'moved'; readonly chatId: number }
  /** It will never be done: the bot was blocked, the text is too long. */
  | { readonly outcome: 'refused'; readonly error: Error }
  /** Telegram does not know the token, or not any more: nothing of this bot is done until it has another one. */
  | { readonly outcome: 'revoked'; readonly error: Error }
  /** `mayHaveArrived`: Telegram may have done it all the same. */
  | { readonly outcome: 'failed'; readonly error: Error; readonly mayHaveArrived: boolean }

export type Call = (method: string, payload: Readonly<Record<string, unknown>>) => Promise<Called>

/** Nobody heard of it: there was no connection yet. */
const NOT_CONNECTED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH'])
const NOT_SAID_MS = 5_000
/** However long Telegram says: what a queue can be told to wait. Who asks again after a day is told again. */
export const LONGEST_WAIT_MS = BOUNDS.retryAfterMs

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
    if (code === 429)
      return {
        outcome: 'throttled',
        retryAfterMs:
          parameters.retry_after === undefined
            ? NOT_SAID_MS
            : Math.min(LONGEST_WAIT_MS, parameters.retry_after * 1_000),
      }
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

/** A token that nobody has is a path that is not there, and so is a method; only of the second Telegram says what it is. */
function isMethod({ description }: GrammyError): boolean {
  return /method/i.test(description)
}

/** Of the operating system, such as ECONNREFUSED; empty for none. */
export function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
}
