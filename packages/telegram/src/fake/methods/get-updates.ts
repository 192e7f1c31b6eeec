/** getUpdates: returns pending updates, or waits for new ones until the timeout. */
import { type Bot, pendingOf } from '../bot.ts'
import type { MethodResult, Method } from './method.ts'
import { namesOf, numberOf } from './params.ts'
import { Refusal } from '../refusal.ts'

const MOST_UPDATES = 100
const LONGEST_WAIT_S = 50

export const getUpdates: Method = (bot, params, { clock }, gone) => {
  if (bot.webhook !== undefined) {
    throw conflict(
      "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
    )
  }
  bot.poll?.end('terminated by other getUpdates request; make sure that only one bot instance is running')
  bot.wanted = namesOf(params, 'allowed_updates') ?? bot.wanted
  acknowledge(bot, numberOf(params, 'offset', 0), clock())
  const limit = within(numberOf(params, 'limit', MOST_UPDATES), 1, MOST_UPDATES)
  const read = (): readonly unknown[] =>
    pendingOf(bot, clock())
      .slice(0, limit)
      .map(({ value }) => value)
  const waitMs = within(numberOf(params, 'timeout', 0), 0, LONGEST_WAIT_S) * 1_000
  const result = read()
  return result.length > 0 || waitMs === 0 ? { result } : waitFor(bot, read, waitMs, gone)
}

/**
 * Telegram ignores an offset further ahead than this, because it belongs to ids from before a long silence.
 */
const MOST_AHEAD = 10

/** A negative offset counts from the end and drops all earlier updates. */
function acknowledge(bot: Bot, offset: number, now: number): void {
  if (offset > bot.nextUpdateId + MOST_AHEAD) return
  const pending = pendingOf(bot, now)
  const first = offset < 0 ? (pending.at(offset) ?? pending[0])?.id : offset
  for (const { id } of pending) if (first !== undefined && id < first) bot.pending.delete(id)
}

async function waitFor(
  bot: Bot,
  read: () => readonly unknown[],
  waitMs: number,
  gone: AbortSignal,
): Promise<MethodResult> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly unknown[]>()
  const poll = {
    look: () => {
      const result = read()
      if (result.length > 0) resolve(result)
    },
    end: (why: string) => reject(conflict(why)),
  }
  const onGone = (): void => resolve([])
  const timer = setTimeout(() => resolve(read()), waitMs)
  gone.addEventListener('abort', onGone)
  bot.poll = poll
  try {
    return { result: await promise }
  } finally {
    clearTimeout(timer)
    gone.removeEventListener('abort', onGone)
    if (bot.poll === poll) bot.poll = undefined
  }
}

const within = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most)

const conflict = (why: string): Refusal => new Refusal(409, `Conflict: ${why}`)
