/** A code that somebody typed does not stay in its chat because something of ours failed. */
import { deletionOf } from '../handlers/auth.ts'
import type { AtOnce } from './receive.ts'

/** Once more whenever it fails: of what has ended nobody hears that it was deleted before. When everything has to end, nobody waits for it. */
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
