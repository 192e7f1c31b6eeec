/** Runs a handler while Telegram waits: for so long, and not when everything has to end. */
import { Snooze } from 'jobmill'
import type { Bot } from '../bots/bot.ts'
import { handle, type Handled } from '../handlers/handler.ts'
import type { Log } from '../log.ts'
import type { Claimed } from '../sessions/seen.ts'
import { type RawUpdate, type UpdateFacts, updateKey } from '../update/update.ts'

export interface RunTools {
  /** How long a handler may take. */
  readonly handlerMs: number
  /** Fires when nothing is to be waited for any more: Telegram then sends again what was not ended. */
  readonly hurry: AbortSignal
  /** Also for what handlers say. */
  readonly log: Log
  readonly hasDatabase: boolean
}

/** Telegram waits for a minute; a handler that takes this long belongs into a job. */
export const HANDLER_MS = 30_000
/** Whoever is started next can have it soon. */
const STOPPED_MS = 1_000

/** A handler that does not listen to its signal is left behind: what it comes to is not waited for. */
export async function runInTime(
  bot: Bot,
  update: RawUpdate,
  facts: UpdateFacts,
  { attempt }: Claimed,
  { handlerMs, hurry, log, hasDatabase }: RunTools,
): Promise<Handled> {
  const over = new AbortController()
  const late = Promise.withResolvers<never>()
  const end = (error: Error): void => {
    over.abort(error)
    late.reject(error)
  }
  const timer = setTimeout(() => end(new Error(`the handler took longer than ${handlerMs} ms`)), handlerMs)
  const stopped = (): void => end(new Snooze(STOPPED_MS, 'the process was told to stop at once'))
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
