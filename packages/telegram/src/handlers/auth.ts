/** The bot that lets people in: it takes a code, opens a session, and removes the message that the code was in. */
import type { AuthConfig } from '../config/config.ts'
import type { Codes, Verdict } from '../sessions/codes.ts'
import { EVERY_BOT, type Sessions } from '../sessions/sessions.ts'
import type { Fault } from '../work/fault.ts'
import type { UpdateFacts } from '../update/update.ts'
import type { Handler, HandlerContext, Reply } from './handler.ts'

export interface AuthTools {
  readonly auth: AuthConfig
  readonly codes: Codes
  readonly sessions: Sessions
  readonly fault: Fault
}

const HELP = `I know these:
/auth CODE opens a session
/whoami tells who you are, and how long your session lasts
/logout ends it`

export function auth(tools: AuthTools): Handler {
  return async (context) => {
    const { text, userId, bot } = context
    const deletion = deletionOf(context)
    if (deletion !== null) context.call(deletion.method, deletion.payload, { bestEffort: true })
    // In groups a command may name the bot that it is for.
    const [, word = '', name = '', rest = ''] =
      /^\/([a-z]+)(?:@(\w+))?(?:\s+([\s\S]*))?$/i.exec(text.trim()) ?? []
    const isForOther =
      name !== '' && bot.username !== null && name.toLowerCase() !== bot.username.toLowerCase()
    if (userId === null || isForOther) return
    switch (word.toLowerCase()) {
      case 'start':
        return context.reply(`Hello. I open the other bots for you.\n\n${HELP}`)
      case 'auth':
        return logIn(context, userId, rest.trim(), tools)
      case 'whoami':
        return context.reply(await authenticate(context, userId, tools))
      case 'logout':
        return context.reply(
          (await tools.sessions.close(userId)) ? 'Your session is over.' : 'You had no session.',
        )
      default:
        return context.reply(HELP)
    }
  }
}

/** Of the message that a code may be in. Right or wrong, and whoever wrote it: a wrong one may be nearly right, or right for somebody else. */
export function deletionOf({ chatId, messageId, text }: UpdateFacts): Reply | null {
  if (chatId === null || messageId === null || !mayBeCode(text)) return null
  return {
    method: 'deleteMessage',
    payload: { chat_id: chatId, message_id: messageId },
    bestEffort: true,
  }
}

/**
 * Whatever is written to this bot, but for commands with nothing behind them. Not by a look at whether it is one: who tried words one by one would see by the
 * deletion which is right, and no lock would keep them from it.
 */
function mayBeCode(text: string): boolean {
  return !/^(?:\/(?:start|help|auth|login|whoami|logout)(?:@\w+)?)?$/i.test(text.trim())
}

async function logIn(
  { key, chatId, reply }: HandlerContext,
  userId: number,
  code: string,
  { auth, codes, sessions, fault }: AuthTools,
): Promise<void> {
  if (code === '') return reply('Send the code with it: /auth CODE')
  const verdict = await codes.try({ userId, code, key })
  await fault('login.tried', chatId)
  if (verdict.outcome === 'right') await sessions.open(userId, verdict.scopes, auth.ttlMs)
  await fault('login.opened', chatId)
  reply(told(verdict, auth.ttlMs))
}

function told(verdict: Verdict, ttlMs: number): string {
  switch (verdict.outcome) {
    case 'right':
      return `Welcome. Your session lasts ${lasting(ttlMs)} and opens ${opened(verdict.scopes)}.`
    case 'wrong':
      return `This code is not valid. ${verdict.triesLeft} more, and you are locked out for a while.`
    case 'locked':
      return `Too many wrong codes. Try again in ${lasting(verdict.forMs)}.`
    case 'shut':
      return `Too many wrong codes have come in. A code that was made for you still works; others may in ${lasting(verdict.forMs)}.`
  }
}

async function authenticate(
  { userName }: HandlerContext,
  userId: number,
  { sessions }: AuthTools,
): Promise<string> {
  const open = await sessions.of(userId)
  const who = `You are ${userName ?? 'somebody'} (${userId}).`
  if (open.length === 0) return `${who} You have no session: send /auth CODE.`
  const left = open.map(({ scope, remainingMs }) => `${opened([scope])} for ${lasting(remainingMs)} more`)
  return `${who} Your session opens ${left.join(', ')}.`
}

function opened(scopes: readonly string[]): string {
  return scopes.includes(EVERY_BOT) ? 'every bot' : scopes.join(', ')
}

export function lasting(ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / 1_000))
  if (seconds < 60) return seconds === 1 ? '1 second' : `${seconds} seconds`
  const minutes = Math.round(seconds / 60)
  if (minutes < 120) return minutes === 1 ? '1 minute' : `${minutes} minutes`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`
}
