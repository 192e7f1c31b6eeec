/** A bot at run time: its config, its Telegram API client and its handler. */
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
  /** Null until Telegram has reported it. */
  username: string | null
  /**
   * Why the bot cannot use Telegram. `token`: Telegram rejects its token. `unreached`: the setup at Telegram
   * failed for another reason. Null if the bot works, or is not set up yet.
   */
  trouble: 'token' | 'unreached' | null
  /** Closes the keep-alive connections. */
  readonly close: () => void
}

/**
 * Longer than Telegram takes to answer, and shorter than the shutdown grace period, so that calls in flight
 * can finish.
 */
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

/** Whether the allow list admits this user. */
export function isListed({ allowedUsers }: BotConfig, userId: number | null): boolean {
  return allowedUsers === null || (userId !== null && allowedUsers.has(userId))
}

/** The text that explains to a user how to log in. */
export function promptOf(bot: BotConfig, bots: readonly Bot[]): string {
  if (bot.words.prompt !== '') return bot.words.prompt
  const loginBot = bots.find(({ handler }) => handler === 'auth')
  const where =
    loginBot === undefined
      ? ''
      : ` with ${loginBot.username === null ? `the bot ${loginBot.slug}` : `@${loginBot.username}`}`
  return `Please log in first${where}: send /auth and your code.`
}

/**
 * The notice for a permanently failed update. Only messages from people get one, not service messages or
 * reactions.
 */
export function deadNotice(
  { words }: Pick<BotConfig, 'words'>,
  { chatId, isTalk }: Pick<UpdateFacts, 'chatId' | 'isTalk'>,
): Reply[] {
  return words.dead === null || chatId === null || !isTalk ? [] : messages(chatId, words.dead)
}
