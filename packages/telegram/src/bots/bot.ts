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

type Talk = Pick<UpdateFacts, 'chatId' | 'isTalk'>

/** Explains to a user how to log in. */
export function loginPrompt({ words }: BotConfig, bots: readonly Bot[], talk: Talk): Reply[] {
  const loginBot = bots.find(({ handler }) => handler === 'auth')
  const where = loginBot === undefined ? '' : ` with ${nameOf(loginBot)}`
  return notice(talk, words.prompt || `Please log in first${where}: send /auth and your code.`)
}

function nameOf({ slug, username }: Bot): string {
  return username === null ? `the bot ${slug}` : `@${username}`
}

/** The notice for a permanently failed update. */
export function deadNotice({ words }: Pick<BotConfig, 'words'>, talk: Talk): Reply[] {
  return words.dead === null ? [] : notice(talk, words.dead)
}

/** Only messages from people get a notice, not service messages or reactions. */
function notice({ chatId, isTalk }: Talk, text: string): Reply[] {
  return chatId === null || !isTalk ? [] : messages(chatId, text)
}
