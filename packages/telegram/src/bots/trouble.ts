/** Explains why a bot cannot use Telegram, and what to do about it. */
import { GrammyError, HttpError } from 'grammy'
import { botVariable } from '../config/secrets.ts'
import { codeOf } from '../work/call.ts'

export function troubleWith({ slug }: { readonly slug: string }, error: unknown) {
  const isTelegram = error instanceof GrammyError
  // Telegram answers 404 for an unknown token, because the token is part of the URL.
  const isRefused = isTelegram && [401, 404].includes(error.error_code)
  if (isRefused)
    return { isRefused, what: `Telegram rejected the token: check ${botVariable(slug, 'TOKEN')}` }
  const isAway = error instanceof HttpError
  const what = isAway ? 'Telegram is unreachable' : 'bot could not be set up'
  return { isRefused, what: isTelegram ? 'Telegram returned an error' : what }
}

/**
 * Adds the system error code, such as ECONNREFUSED. The cause's message is left out, because it may contain
 * the URL and so the token.
 */
export function reasonOf(error: unknown): string {
  const code = error instanceof HttpError ? codeOf(error.error) : ''
  return code === '' ? String(error) : `${String(error)} (${code})`
}
