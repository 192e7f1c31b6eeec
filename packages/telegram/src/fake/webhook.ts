/** The webhook of a bot: delivers pending updates and records errors. */
import { type Bot, pendingOf, type Update, type Webhook, type WebhookSettings } from './bot.ts'
import { lanes } from './lanes.ts'
import { type Posted, poster } from './post.ts'
import type { World } from './methods/method.ts'
import type { Delivery } from './types.ts'

export function webhook(bot: Bot, settings: WebhookSettings, world: World): Webhook {
  const { clock, record } = world
  const { post, close } = poster(settings, world.webhookTimeoutMs)
  const attempts = new Map<number, number>()
  let lastError: { readonly at: number; readonly message: string } | null = null

  async function deliver(update: Update): Promise<Posted & { readonly delivery: Delivery }> {
    const at = clock()
    const startedAt = performance.now()
    const attempt = (attempts.get(update.id) ?? 0) + 1
    attempts.set(update.id, attempt)
    const posted = await post(JSON.stringify(update.value))
    const { status, error } = posted
    const ms = performance.now() - startedAt
    const delivery = {
      bot: bot.token,
      updateId: update.id,
      chatId: update.chatId,
      attempt,
      at,
      ms,
      status,
      error,
    }
    if (error !== null) lastError = { at: clock(), message: error }
    // Remove the update before recording the delivery, so that a waiting test sees a consistent state.
    else bot.pending.delete(update.id)
    record(delivery)
    return { ...posted, delivery }
  }

  const order = lanes(bot, settings.maxConnections, world, deliver)
  for (const update of pendingOf(bot, clock())) order.add(update)
  return {
    settings,
    add: order.add,
    again: async (update) => (await deliver(update)).delivery,
    lastError: () => lastError,
    stop: () => {
      order.stop()
      close()
    },
  }
}
