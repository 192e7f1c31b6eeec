/** A bot at run time: its config, its way to Telegram, and what answers its updates. */
import { Agent } from 'node:http'
import { Agent as SecureAgent } from 'node:https'
import { Api } from 'grammy'
import type { BotConfig } from '../config/config.ts'
import { type Handler, messages, type Reply } from '../handlers/handler.ts'
import type { UpdateFacts } from '../update/update.ts'
import { type Call, callOf } from '../work/call.ts'

export interface Bot extends BotConfig {
  readonly api: Api
  readonly call: Call
  readonly handle: Handler
  /** For people; null until Telegram told it. */
  username: string | null
  /** What keeps it from Telegram: its token is refused, or nobody answers. Null when all is well, and until that is known. */
  trouble: 'token' | 'unreached' | null
  /** Ends connections that are kept for the next call. */
  readonly close: () => void
}

/** Longer than Telegram ever takes; shorter than the grace of a stop, so that what is on its way arrives. */
const CALL_SECONDS = 20

export function botOf(config: BotConfig, handle: Handler, apiRoot: string): Bot {
  const agent = apiRoot.startsWith('https:')
    ? new SecureAgent({ keepAlive: true })
    : new Agent({ keepAlive: true })
  const api = new Api(config.token, {
    apiRoot,
    timeoutSeconds: CALL_SECONDS,
    baseFetchConfig: { compress: true, agent },
  })
  return {
    ...config,
    api,
    call: callOf(api),
    handle,
    username: null,
    trouble: null,
    close: () => agent.destroy(),
  }
}

/** Whether this user may speak at all. */
export function isListed({ allowedUsers }: BotConfig, userId: number | null): boolean {
  return allowedUsers === null || (userId !== null && allowedUsers.has(userId))
}

/** How to get a session for a bot that asks for one. */
export function promptOf(bot: BotConfig, bots: readonly Bot[]): string {
  if (bot.words.prompt !== '') return bot.words.prompt
  const door = bots.find(({ handler }) => handler === 'auth')
  const where =
    door === undefined ? '' : ` with ${door.username === null ? `the bot ${door.slug}` : `@${door.username}`}`
  return `Please log in first${where}: send it /auth and your code.`
}

/** That an update came to nothing is told to who said something: not to a chat in which somebody joined, or pressed a heart. */
export function deadNotice(
  { words }: Pick<BotConfig, 'words'>,
  { chatId, isTalk }: Pick<UpdateFacts, 'chatId' | 'isTalk'>,
): Reply[] {
  return words.dead === null || chatId === null || !isTalk ? [] : messages(chatId, words.dead)
}
