/** Why a bot could not talk to Telegram, and what to do about it. */
import { GrammyError, HttpError } from 'grammy'
import { botVariable } from '../config/secrets.ts'
import { codeOf, LONGEST_WAIT_MS } from '../work/call.ts'

export interface BotTrouble {
  readonly isRefused: boolean
  readonly what: string
}

export function troubleWith({ slug }: { readonly slug: string }, error: unknown): BotTrouble {
  // Telegram says that there is no such page when it does not know the token in its address.
  const isRefused = error instanceof GrammyError && [401, 404].includes(error.error_code)
  return {
    isRefused,
    what: isRefused
      ? `Telegram refuses the token: check ${botVariable(slug, 'TOKEN')}`
      : 'Telegram was not reached',
  }
}

/** With the code of what lies beneath it, such as ECONNREFUSED. Not its words, which may have the address in them, and the token is part of that. */
export function reasonOf(error: unknown): string {
  const code = error instanceof HttpError ? codeOf(error.error) : ''
  return code === '' ? String(error) : `${String(error)} (${code})`
}

/** How long Telegram wants not to be asked again; null where it said nothing of that. */
export function retryAfterMs(error: unknown): number | null {
  const seconds = error instanceof GrammyError ? error.parameters.retry_after : undefined
  return seconds === undefined ? null : Math.min(LONGEST_WAIT_MS, seconds * 1_000)
}
