/** The gateway: assembles its parts, and starts and stops them as one. */
import type { Mill } from 'jobmill'
import { systemPlatform } from 'jobmill/internal'
import { openTables } from 'jobmill-tables'
import { serveAdmin } from './admin-address.ts'
import type { Bot } from './bots/bot.ts'
import { reach } from './bots/reach.ts'
import { deliveryFailures, WEBHOOK_PATH, type WebhookState, webhookState } from './bots/webhooks.ts'
import { health } from './intake/health.ts'
import { listen } from './intake/listen.ts'
import { logTo } from './log.ts'
import { checkOptions, type GatewayOptions } from './options.ts'
import { partsOf } from './parts.ts'
import type { Codes } from './sessions/codes.ts'
import { type Schema, STEPS } from './sessions/steps.ts'
import type { Sessions } from './sessions/sessions.ts'
import { shutdown } from './shutdown.ts'
import { warnOfUnserved } from './work/unserved-kinds.ts'

export interface Gateway {
  /** The URL for webhooks. */
  readonly url: string
  /** The URL of Mission Control; null if it is off. */
  readonly adminUrl: string | null
  readonly bots: readonly Bot[]
  /** Without a database, its jobs are in memory. */
  readonly mill: Mill<never>
  readonly sessions: Sessions
  /** Null if AUTH_SECRET is not set. */
  readonly codes: Codes | null
  /** The state of the webhooks at Telegram. */
  readonly webhooks: () => Promise<WebhookState[]>
  /**
   * Graceful shutdown: stop receiving updates, answer open requests and let running jobs finish within the
   * grace period, and close everything.
   */
  readonly stop: () => Promise<void>
  /** Stops without a grace period, also after `stop`, and kills the programs that handlers started. */
  readonly hurry: () => void
}

/** If the start fails, the parts that have started are stopped again. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  checkOptions(options)
  const { config } = options
  const { store, tables } = await openTables<Schema>(config.database ?? ':memory:', {
    app: 'telegram',
    steps: STEPS,
    onError: (error) => logTo(options.log)('warn', 'database connection lost', { error: error.message }),
  })
  const parts = shutdown(options.platform ?? systemPlatform, { isDurable: config.database !== null })
  const { hurried, stop, hurry } = parts
  parts.rest.push(() => tables.close(hurried.aborted ? 0 : undefined))
  try {
    const {
      mill,
      bots,
      log,
      metrics: counted,
      receive,
      onWebhook,
      fault,
      states,
      ...known
    } = partsOf(options, store, tables, parts)
    parts.rest.push(async () => bots.forEach((bot) => bot.close()))
    // Open the mill first: its errors explain why a database is unreachable.
    await mill.open()
    parts.mill = mill
    await tables.open()
    const probe = health({
      mill,
      tables,
      bots,
      undelivered: deliveryFailures(config.mode === 'webhook' ? states : null),
    })
    const server = await listen(config.listen, (request, response) =>
      (request.url ?? '').startsWith(WEBHOOK_PATH) ? onWebhook(request, response) : probe(request, response),
    )
    parts.intake.push(server.close)
    const admin = config.admin === null ? null : await serveAdmin(mill, config.admin, options.admin)
    if (admin !== null) parts.intake.push(admin.close)
    // Start the workers only when the server listens, so that a port conflict does not leave work half done.
    await mill.start()
    await warnOfUnserved(mill, log)
    const { mode, publicUrl } = config
    const tools = { receive, metrics: counted, log, fault, signal: parts.stopping, tables, mode, publicUrl }
    const reaching = bots.map((bot) => reach(bot, tools))
    parts.intake.push((late) => Promise.race([Promise.all(reaching), late]))
    log('info', 'gateway started', { url: server.url, bots: bots.length })
    return {
      ...known,
      url: server.url,
      adminUrl: admin?.url ?? null,
      bots,
      mill,
      webhooks: () => Promise.all(bots.map(webhookState)),
      stop,
      hurry,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
