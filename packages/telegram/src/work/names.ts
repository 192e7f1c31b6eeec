/** What the jobs, queues and limits of a bot are called. The id is part of it: another bot under an old slug has jobs of its own. */
import type { BotConfig } from '../config/config.ts'

type Named = Pick<BotConfig, 'slug' | 'id' | 'handler'>

/** A job of a bot or a handler that is no longer in the config has no handler anywhere, and waits. */
export const updateKind = ({ slug, id, handler }: Named): string => `telegram.${slug}.${id}.${handler}`
export const sendKind = ({ slug, id }: Pick<Named, 'slug' | 'id'>): string => `telegram.${slug}.${id}.send`
export const updateQueue = ({ slug }: Pick<Named, 'slug'>): string => `telegram.${slug}`
export const sendQueue = ({ slug }: Pick<Named, 'slug'>): string => `telegram.${slug}.send`

/**
 * What Telegram tolerates: about one message a second to a chat, with short bursts, 20 a minute to a group, 30 a second in all. No minute has more than 20 to a
 * group and no second more than 30 in all, the bursts included.
 */
export const LIMITS = {
  'telegram-chat': { rate: 1, per: '1s', burst: 3, perKey: true },
  'telegram-group': { rate: 15, per: '1m', burst: 5, perKey: true },
  'telegram-bot': { rate: 25, per: '1s', burst: 5, perKey: true },
} as const

/** Groups and channels have negative ids, or names. */
export const chatLimit = (chatId: number | string): keyof typeof LIMITS =>
  typeof chatId === 'string' || chatId < 0 ? 'telegram-group' : 'telegram-chat'
