/** Explains why a bot cannot use Telegram, and what to do about it. */
import { GrammyError, HttpError } from 'grammy'
import { botVariable } from '../config/secrets.ts'
import { codeOf, LONGEST_WAIT_MS } from '../work/call.ts'

export interface BotTrouble {
  readonly isRefused: boolean
  readonly what: string
}

export function troubleWith({ slug }: { readonly slug: string }, error: unknown): BotTrouble {
  // Telegram answers 404 for an unknown token, because the token is part of the URL.
  const isRefused = error instanceof GrammyError && [401, 404].includes(error.error_code)
  return {
    isRefused,
    what: isRefused
      ? `Telegram rejected the token: check ${botVariable(slug, 'TOKEN')}`
      : error instanceof GrammyError
        ? 'Telegram answered with an error'
        : error instanceof HttpError
          ? 'Telegram is unreachable'
          : 'bot could not be set up',
  }
}

/**
 * Adds the system error code, such as ECONNREFUSED. The cause's message is left out, because it may contain
 * the URL and so the token.
 */
export function reasonOf(error: unknown): string {
  const code = error instanceof HttpError ? codeOf(error.error) : ''
  return code === '' ? String(error) : `${String(error)} (${code})`
}

/** The wait that Telegram asked for; null if it named none. */
export function retryAfterMs(error: unknown): number | null {
  const seconds = error instanceof GrammyError ? error.parameters.retry_after : undefined
  return seconds === undefined ? null : Math.min(LONGEST_WAIT_MS, seconds * 1_000)
}
