/** `/healthz`: this process answers. `/readyz`: it can store what it is given. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Mill } from 'jobmill'
import type { Tables } from 'jobmill-tables'
import type { Schema } from '../sessions/steps.ts'

export function health({
  mill,
  tables,
}: {
  readonly mill: Pick<Mill<never>, 'readiness'> | null
  readonly tables: Tables<Schema>
}) {
  async function isReady(): Promise<boolean> {
    if (mill !== null && !(await mill.readiness()).ready) return false
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

  return async ({ url = '' }: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = url.split('?')[0]
    const ok = path === '/readyz' ? await isReady() : path === '/healthz'
    const status = ok ? 200 : path === '/readyz' ? 503 : 404
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ ok }))
  }
}
