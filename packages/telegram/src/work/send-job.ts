/**
 * The outbox: each reply is a job, written in the transaction that completes its update. It is retried until
 * Telegram accepts or refuses it, or until its attempts are used up.
 */
import { Dead, defineJob, type EnqueueOptions, type JobContext, type JobDefinition } from 'jobmill'
import type { Bot } from '../bots/bot.ts'
import { botVariable } from '../config/secrets.ts'
import type { Reply } from '../handlers/handler.ts'
import type { Inside } from '../inside.ts'
import { chatLimit, sendKind, sendQueue } from './names.ts'
import { sentNotes } from './sent-notes.ts'
import { stormWatch } from './storm.ts'

export interface SendPayload extends Reply {
  readonly botId: number
  /** A channel may be given as `@name`. Null if the call has no chat. */
  readonly chatId: number | string | null
  /** What the reply answers, and its number: `<of>/<n>`. Null: the reply is not deduplicated. */
  readonly of: string | null
}

/** Covers one to two hours of a Telegram outage. */
const ATTEMPTS = 16
const BACKOFF = { base: '1s', max: '30m' } as const
/**
 * How long the replies of a bot pause after a rejected token. A token rarely recovers without an operator.
 */
const REVOKED_MS = 5 * 60_000

export function sendJob(bot: Bot, { replies, metrics, log, fault }: Inside): JobDefinition<SendPayload> {
  const isOnce = bot.replies === 'at-most-once'
  const count = (method: string, result: string): void => metrics.sent(bot.slug, method, result)

  const isStorm = stormWatch()
  const notes = sentNotes(replies)
  /** Telegram rejects the token. Logged once, however many replies are waiting. */
  let isRevoked = false

  function onRevoked(error: Error): void {
    bot.trouble = 'token'
    if (isRevoked) return
    isRevoked = true
    log('warn', 'Telegram rejected the token, replies of this bot are paused until it is accepted', {
      bot: bot.slug,
      fix: `get the token from @BotFather, set ${botVariable(bot.slug, 'TOKEN')} and restart`,
      error: error.message,
    })
  }

  async function run(context: JobContext<SendPayload>): Promise<unknown> {
    const { payload, job, signal, limit, snooze, enqueue, now } = context
    const { method, chatId } = payload
    const userChat = typeof chatId === 'number' ? chatId : null
    const key = `${bot.id}:${chatId}`
    // Do not occupy a sender while the chat's limit is used up, so that other chats are served. The bot-wide
    // limit may wait, because it holds for all chats anyway.
    if (chatId !== null && isMessage(method)) await limit.acquire(chatLimit(chatId), { key, wait: 0 })
    await limit.acquire('telegram-bot', { key: String(bot.id) })
    const note = isOnce ? notes(job.id, signal) : null
    try {
      if (note !== null && !(await note.begin())) {
        count(method, 'unsure')
        return {
          sent: 'perhaps',
          because: 'an earlier attempt began to send the reply, and its outcome is unknown',
        }
      }
      await fault('send.begun', userChat)
    } catch (error) {
      // Telegram has not received the call.
      await note?.undo()
      throw error
    }
    const called = await bot.call(method, payload.payload)
    await fault('send.accepted', userChat)
    switch (called.outcome) {
      case 'sent':
        bot.trouble = null
        isRevoked = false
        count(method, 'sent')
        return { sent: 'yes', ...messageOf(called.result) }
      case 'throttled':
        metrics.throttled(bot.slug)
        await note?.undo()
        if (chatId !== null && isMessage(method))
          await limit.drain(chatLimit(chatId), { key, retryAfter: called.retryAfterMs })
        if (isStorm(chatId, now()))
          await limit.drain('telegram-bot', { key: String(bot.id), retryAfter: called.retryAfterMs })
        return snooze(called.retryAfterMs)
      case 'revoked':
        // Spend no attempt: Telegram rejects the token, not this reply.
        count(method, 'revoked')
        onRevoked(called.error)
        await note?.undo()
        await limit.drain('telegram-bot', { key: String(bot.id), retryAfter: REVOKED_MS })
        return snooze(REVOKED_MS)
      case 'moved': {
        count(method, 'moved')
        // The reply certainly did not arrive.
        await note?.undo()
        const moved = {
          ...payload,
          of: payload.of === null ? null : `${payload.of}>${called.chatId}`,
          chatId: called.chatId,
          payload: { ...payload.payload, chat_id: called.chatId },
        }
        await enqueue(sendKind(bot), moved, { ...optionsOf(bot, moved), withCompletion: true })
        await fault('send.moved', userChat)
        return { sent: 'no', movedTo: called.chatId }
      }
      case 'refused':
        count(method, payload.bestEffort ? 'refused' : 'dead')
        // The reply certainly did not arrive, and may be retried by hand.
        await note?.undo()
        if (payload.bestEffort) return { sent: 'no', because: called.error.message }
        throw new Dead(called.error.message, { cause: called.error })
      case 'failed':
        if (isOnce && called.mayHaveArrived) {
          count(method, 'unsure')
          return { sent: 'perhaps', because: called.error.message }
        }
        count(method, 'failed')
        await note?.undo()
        throw called.error
    }
  }

  return defineJob({
    kind: sendKind(bot),
    queue: sendQueue(bot),
    maxAttempts: ATTEMPTS,
    backoff: BACKOFF,
    run,
  })
}

/** The limits of a chat count only messages, not deletions. */
function isMessage(method: string): boolean {
  return /^(?:send|copy|forward|edit)/.test(method)
}

/** How long a reply is deduplicated after its job has ended. */
const KNOWN_FOR = '7d'

/** Best-effort replies get only a few attempts, not retries for hours. */
const FEW_ATTEMPTS = 3

/**
 * Replies to a chat arrive in the order of writing. Each is deduplicated by what it answers. Best-effort
 * replies block no others.
 */
export function optionsOf(
  bot: Pick<Bot, 'slug' | 'id'>,
  { chatId, of, bestEffort }: SendPayload,
): EnqueueOptions {
  return {
    queue: sendQueue(bot),
    ...(bestEffort ? { maxAttempts: FEW_ATTEMPTS } : {}),
    ...(chatId === null || bestEffort ? {} : { orderKey: `${bot.id}:${chatId}` }),
    ...(of === null ? {} : { dedupe: { key: replyKey(of), holdFor: KNOWN_FOR, holdAfter: 'ended' } }),
  }
}

export function replyKey(of: string): string {
  return `telegram reply ${of}`
}

export function sendPayload(bot: Pick<Bot, 'id'>, reply: Reply, of: string | null): SendPayload {
  return { ...reply, botId: bot.id, chatId: chatOf(reply.payload['chat_id']), of }
}

/** As Telegram reads it: a number may be given as a string, and names are case-insensitive. */
function chatOf(id: unknown): number | string | null {
  if (typeof id === 'string' && /^@\w{1,64}$/.test(id)) return id.toLowerCase()
  const chat = typeof id === 'string' && /^-?\d+$/.test(id) ? Number(id) : id
  return Number.isSafeInteger(chat) ? (chat as number) : null
}

function messageOf(result: unknown): { messageId?: number } {
  const { message_id: id } = Object(result) as { readonly message_id?: unknown }
  return typeof id === 'number' ? { messageId: id } : {}
}
