/**
 * `/healthz`: the process answers. `/readyz`: the process can store updates. Trouble with Telegram is
 * reported as `degraded` and stays ready: an orchestrator that removed the process would stop all deliveries.
 * The reasons are in the log, not in this public response.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Mill } from 'jobmill'
import type { Tables } from 'jobmill-tables'
import type { Bot } from '../bots/bot.ts'
import type { Undelivered } from '../bots/webhooks.ts'
import type { Schema } from '../sessions/steps.ts'

export function health({
  mill,
  tables,
  bots,
  undelivered,
}: {
  readonly mill: Pick<Mill<never>, 'readiness'>
  readonly tables: Tables<Schema>
  readonly bots: readonly Pick<Bot, 'slug' | 'trouble'>[]
  readonly undelivered: () => readonly Undelivered[]
}) {
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
