/** Deletes messages with codes from the chat, even if handling them fails. */
import { deletionOf } from '../handlers/auth.ts'
import type { AtOnce } from './receive.ts'

/**
 * Deletes again after every failure, because the outcome of an earlier deletion is unknown. An immediate stop
 * does not wait for the deletion.
 */
export function hidingCodes(atOnce: AtOnce, hurry: AbortSignal): AtOnce {
  return async (bot, update, facts, instead) => {
    async function hide(): Promise<void> {
      const deletion = bot.handler === 'auth' ? deletionOf(facts) : null
      if (deletion === null) return
      const deleted = bot.call(deletion.method, deletion.payload)
      if (!hurry.aborted) await deleted
    }
    try {
      const received = await atOnce(bot, update, facts, instead)
      if (received.result === 'failed') await hide()
      return received
    } catch (error) {
      await hide()
      throw error
    }
  }
}
