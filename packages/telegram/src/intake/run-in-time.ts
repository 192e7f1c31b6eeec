/** Runs a handler while Telegram waits, with a time limit and an immediate stop. */
import { Snooze } from 'jobmill'
import type { Bot } from '../bots/bot.ts'
import { handle, type Handled } from '../handlers/handler.ts'
import type { Log } from '../log.ts'
import type { ClaimedUpdate } from '../sessions/update-claims.ts'
import { type RawUpdate, type UpdateFacts, updateKey } from '../update/update.ts'

export interface RunTools {
  /** The time limit of a handler. */
  readonly handlerMs: number
  /** Fires on an immediate stop. Telegram delivers unfinished updates again. */
  readonly hurry: AbortSignal
  /** Also the logger for handlers. */
  readonly log: Log
  readonly hasDatabase: boolean
}

/** Half of the minute that Telegram waits. A slower handler belongs in an async bot. */
export const HANDLER_MS = 30_000
/** Short, so that the next process gets the update quickly. */
const STOPPED_MS = 1_000

/** A handler that ignores its signal is abandoned, and its result is discarded. */
export async function runInTime(
  bot: Bot,
  update: RawUpdate,
  facts: UpdateFacts,
  { attempt }: ClaimedUpdate,
  { handlerMs, hurry, log, hasDatabase }: RunTools,
): Promise<Handled> {
  const over = new AbortController()
  const late = Promise.withResolvers<never>()
  const end = (error: Error): void => {
    over.abort(error)
    late.reject(error)
  }
  const timer = setTimeout(() => end(new Error(`the handler took longer than ${handlerMs} ms`)), handlerMs)
  const stopped = (): void => end(new Snooze(STOPPED_MS, 'the process is stopping immediately'))
  hurry.addEventListener('abort', stopped, { once: true })
  const { slug, id, username } = bot
  const handled = handle(
    bot.handle,
    {
      ...facts,
      bot: { slug, id, username },
      update,
      key: updateKey(bot.id, facts.updateId),
      attempt,
      signal: over.signal,
      log: (message, fields = {}) => log('info', message, { bot: slug, update: facts.updateId, ...fields }),
    },
    hasDatabase,
  )
  try {
    if (hurry.aborted) stopped()
    return await Promise.race([handled, late.promise])
  } finally {
    clearTimeout(timer)
    hurry.removeEventListener('abort', stopped)
    handled.catch(() => {})
  }
}
