/** The login bot: takes a code, opens a session, and deletes the message with the code. */
import type { Codes, Verdict } from '../sessions/codes.ts'
import { EVERY_BOT, type Sessions } from '../sessions/sessions.ts'
import type { Fault } from '../work/fault.ts'
import type { UpdateFacts } from '../update/update.ts'
import type { Handler, HandlerContext, Reply } from './handler.ts'

export interface AuthTools {
  /** How long a session lasts. */
  readonly ttlMs: number
  readonly codes: Codes
  readonly sessions: Sessions
  readonly fault: Fault
}

const HELP = `Here is what I can do:
/auth CODE – log in with your code
/whoami – show your account and session
/logout – end your session`

export function auth(tools: AuthTools): Handler {
  return async (context) => {
    const { text, userId } = context
    const [, word, name, rest = ''] = COMMAND.exec(text) ?? []
    if (userId === null || name !== undefined) return
    switch (word) {
      case 'start':
        return context.reply(`Hello! Log in here to use the other bots.\n\n${HELP}`)
      case 'auth':
        return logIn(context, userId, rest, tools)
      case 'whoami':
        return context.reply(await whoami(context, userId, tools))
      case 'logout':
        return context.reply(
          (await tools.sessions.close(userId)) ? 'You are logged out.' : 'You were not logged in.',
        )
      default:
        return context.reply(HELP)
    }
  }
}

/** In groups, a command may name the bot that it addresses. */
const COMMAND = /^\/([a-z]+)(?:@(\w+))?(?:\s+([\s\S]*))?$/i
const WORDS = ['start', 'help', 'auth', 'login', 'whoami', 'logout']
/** Replaces a text that may contain a code, and is not a command. */
const HIDDEN = '…'
/** Replaces the name of another bot, because a user may have typed a code there. */
const OTHER = '@_'

/**
 * The facts that may be stored: what follows a command is replaced by its hash, and any other text is hidden.
 */
export function concealed(
  { username }: { readonly username: string | null },
  facts: UpdateFacts,
  seal: Codes['seal'],
): UpdateFacts {
  const text = facts.text.trim()
  const [, given = '', name = '', rest = ''] = COMMAND.exec(text) ?? []
  const word = given.toLowerCase()
  if (!WORDS.includes(word)) return { ...facts, text: text === '' ? '' : HIDDEN }
  const isForOther = name !== '' && username !== null && name.toLowerCase() !== username.toLowerCase()
  const code = rest.trim()
  return { ...facts, text: `/${word}${isForOther ? OTHER : ''}${code === '' ? '' : ` ${seal(code)}`}` }
}

/**
 * Deletes a message that may contain a code, right or wrong, from any user. A wrong code may be nearly right,
 * or meant for another user. Empty for messages to other bots.
 */
export function deletionOf(
  { handler }: { readonly handler: string },
  { chatId, messageId, text }: UpdateFacts,
): Reply[] {
  if (handler !== 'auth' || chatId === null || messageId === null || !mayBeCode(text)) return []
  const payload = { chat_id: chatId, message_id: messageId }
  return [{ method: 'deleteMessage', payload, bestEffort: true }]
}

/**
 * Everything written to this bot may be a code, except bare commands. Deleting only valid codes would confirm
 * a right guess even during a lockout.
 */
function mayBeCode(text: string): boolean {
  const [, word = '', , rest = ''] = COMMAND.exec(text.trim()) ?? []
  return text.trim() !== '' && !(WORDS.includes(word.toLowerCase()) && rest.trim() === '')
}

async function logIn(
  { key, chatId, reply }: HandlerContext,
  userId: number,
  sealed: string,
  { ttlMs, codes, sessions, fault }: AuthTools,
): Promise<void> {
  if (sealed === '') return reply('Please send your code with the command: /auth CODE')
  const verdict = await codes.try({ userId, sealed, key })
  await fault('login.tried', chatId)
  if (verdict.outcome === 'right') await sessions.open(userId, verdict.scopes, ttlMs)
  await fault('login.opened', chatId)
  reply(verdictText(verdict, ttlMs))
}

function verdictText(verdict: Verdict, ttlMs: number): string {
  switch (verdict.outcome) {
    case 'right':
      return `Welcome! You are logged in to ${botList(verdict.scopes)} for ${lasting(ttlMs)}.`
    case 'wrong':
      return `This code is not valid. Attempts left: ${verdict.triesLeft}.`
    case 'locked':
      return `Too many wrong codes. Please try again in ${lasting(verdict.forMs)}.`
    case 'shut':
      return `Too many wrong codes were entered. Use a one-time code, or try again in ${lasting(verdict.forMs)}.`
  }
}

async function whoami(
  { userName }: HandlerContext,
  userId: number,
  { sessions }: AuthTools,
): Promise<string> {
  const open = await sessions.of(userId)
  const who = userName === null ? `Your user id is ${userId}.` : `You are ${userName} (user id ${userId}).`
  if (open.length === 0) return `${who} You are not logged in. Send /auth CODE to log in.`
  const left = open.map(({ scope, remainingMs }) => `${botList([scope])} for ${lasting(remainingMs)}`)
  return `${who} You are logged in to ${left.join(', ')}.`
}

function botList(scopes: readonly string[]): string {
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
