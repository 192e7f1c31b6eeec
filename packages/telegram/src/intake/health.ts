/**
 * `/healthz`: the process answers. `/readyz`: the process can store updates. If Telegram fails, the process
 * reports `degraded` but stays ready: an orchestrator that removed it would stop all deliveries. The reasons
 * are in the log, not in this public response.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Mill } from 'jobmill'
import { deliveryFailures, type WebhookState } from '../bots/webhooks.ts'
import type { Inside } from '../inside.ts'

export function health(
  { tables, bots, config }: Inside,
  mill: Mill<never>,
  states: () => Promise<readonly WebhookState[]>,
) {
  // In polling mode, Telegram delivers no updates.
  const undelivered = config.mode === 'webhook' ? deliveryFailures(states) : () => []
  async function isReady(): Promise<boolean> {
    if (!(await mill.readiness()).ready) return false
    return tables.db
      .selectFrom('telegram_webhook')
      .select('bot_id')
      .limit(1)
      .execute()
      .then(
        () => true,
        () => false,
      )
  }

  // Anyone can call this, so concurrent requests share one database query.
  let asking: Promise<boolean> | null = null
  const readyNow = (): Promise<boolean> =>
    (asking ??= isReady().finally(() => {
      asking = null
    }))

  return async ({ url = '' }: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = url.split('?')[0]
    const ok = path === '/readyz' ? await readyNow() : path === '/healthz'
    const status = ok ? 200 : path === '/readyz' ? 503 : 404
    const apart = bots.flatMap(({ slug, trouble }) => (trouble === null ? [] : [{ bot: slug, trouble }]))
    const degraded = path === '/readyz' ? [...apart, ...undelivered()] : []
    const body = { ok, ...(degraded.length === 0 ? {} : { degraded }) }
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
}
