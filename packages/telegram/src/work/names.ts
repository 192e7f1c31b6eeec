/**
 * The names of a bot's kinds, queues and limits. Kinds contain the bot id, so that a new bot under an old
 * slug has its own jobs.
 */
import type { BotConfig } from '../config/config.ts'

type Named = Pick<BotConfig, 'slug' | 'id' | 'handler'>

/** A job of a removed bot or handler has no handler in any process, so it stays in the queue. */
export const updateKind = ({ slug, id, handler }: Named): string => `telegram.${slug}.${id}.${handler}`
export const sendKind = ({ slug, id }: Pick<Named, 'slug' | 'id'>): string => `telegram.${slug}.${id}.send`
export const updateQueue = ({ slug }: Pick<Named, 'slug'>): string => `telegram.${slug}`
export const sendQueue = ({ slug }: Pick<Named, 'slug'>): string => `telegram.${slug}.send`

/**
 * Telegram's limits: about one message a second per chat with short bursts, 20 a minute per group, 30 a
 * second in total. The rates plus bursts stay within them.
 */
export const LIMITS = {
  'telegram-chat': { rate: 1, per: '1s', burst: 3, perKey: true },
  'telegram-group': { rate: 15, per: '1m', burst: 5, perKey: true },
  'telegram-bot': { rate: 25, per: '1s', burst: 5, perKey: true },
} as const

/** Groups and channels have negative ids or names. */
export const chatLimit = (chatId: number | string): keyof typeof LIMITS =>
  typeof chatId === 'string' || chatId < 0 ? 'telegram-group' : 'telegram-chat'
