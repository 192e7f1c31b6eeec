/** Why a bot could not talk to Telegram, and what to do about it. */
import { GrammyError, HttpError } from 'grammy'
import { botVariable } from '../config/secrets.ts'
import { LONGEST_WAIT_MS } from '../work/call.ts'

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

/** With what lies beneath it, such as ECONNREFUSED and the address; the token, which is in the path, is not. */
export function reasonOf(error: unknown): string {
  const { cause = null, code = '' } =
    error instanceof HttpError ? (error.error as { cause?: unknown; code?: unknown }) : {}
  const beneath = cause instanceof Error ? cause.message : String(code)
  return beneath === '' ? String(error) : `${String(error)} (${beneath})`
}

/** How long Telegram wants not to be asked again; null where it said nothing of that. */
export function retryAfterMs(error: unknown): number | null {
  const seconds = error instanceof GrammyError ? error.parameters.retry_after : undefined
  return seconds === undefined ? null : Math.min(LONGEST_WAIT_MS, seconds * 1_000)
}
