/** The gateway: assembles its parts, and starts and stops them as one. */
import type { Mill } from 'jobmill'
import { systemPlatform } from 'jobmill/internal'
import { serve, type Served } from 'jobmill-server'
import { openTables } from 'jobmill-tables'
import type { Bot } from './bots/bot.ts'
import { reach } from './bots/reach.ts'
import { WEBHOOK_PATH, type WebhookState, webhookState, webhookStates } from './bots/webhooks.ts'
import { baseOf } from './inside.ts'
import { health } from './intake/health.ts'
import { listen, notListening } from './intake/listen.ts'
import { receiver } from './intake/receive.ts'
import { webhook } from './intake/webhook.ts'
import { type Log, logTo } from './log.ts'
import { checkOptions, type GatewayOptions } from './options.ts'
import { insideOf, millOf } from './parts.ts'
import type { Codes } from './sessions/codes.ts'
import { type Schema, STEPS } from './sessions/steps.ts'
import type { Sessions } from './sessions/sessions.ts'
import { shutdown } from './shutdown.ts'

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
  /** Stops without a grace period, even after `stop`, and kills the programs that handlers started. */
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
    const inside = insideOf(baseOf(options, store, tables, parts), options)
    const { bots, log, sessions, codes } = inside
    const mill = millOf(inside, store, options)
    const states = webhookStates(bots)
    inside.metrics.attach(mill, states)
    const receive = receiver(inside, mill)
    const onWebhook = webhook(inside, receive)
    parts.rest.push(async () => bots.forEach((bot) => bot.close()))
    // Open the mill first: its errors explain why a database is unreachable.
    await mill.open()
    parts.mill = mill
    await tables.open()
    const probe = health(inside, mill, states)
    const server = await listen(config.listen, (request, response) =>
      (request.url ?? '').startsWith(WEBHOOK_PATH) ? onWebhook(request, response) : probe(request, response),
    )
    parts.intake.push(server.close)
    const admin = await serveAdmin(mill, options)
    if (admin !== null) parts.intake.push(admin.close)
    // Start the workers only when the server listens, so that a port conflict interrupts no job.
    await mill.start()
    await warnOfUnserved(mill, log)
    const reaching = bots.map((bot) => reach(bot, inside, receive))
    parts.intake.push((late) => Promise.race([Promise.all(reaching), late]))
    log('info', 'gateway started', { url: server.url, bots: bots.length })
    return {
      url: server.url,
      adminUrl: admin?.url ?? null,
      bots,
      mill,
      sessions,
      codes,
      webhooks: () => Promise.all(bots.map(webhookState)),
      stop,
      hurry,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Serves Mission Control on its own address; null if it is off. */
async function serveAdmin(mill: Mill<never>, { config, admin }: GatewayOptions): Promise<Served | null> {
  if (config.admin === null) return null
  const { host, port } = config.admin
  try {
    return await serve(mill, { ...admin, port, bind: host })
  } catch (error) {
    throw notListening(error, config.admin, 'admin', 'ADMIN_LISTEN')
  }
}

/** Warns about jobs whose bot or handler was removed from the config. They may block their chats. */
async function warnOfUnserved(mill: Mill<never>, log: Log): Promise<void> {
  const waiting = await mill.unservedKinds().catch(() => [])
  for (const { queue, kind, jobs } of waiting)
    if (kind.startsWith('telegram.'))
      log(
        'warn',
        'jobs have no worker, because their bot or handler is not in the config; their chats may be blocked',
        {
          queue,
          kind,
          jobs,
          fix: 'restore the bot or handler, or cancel the jobs in Mission Control',
        },
      )
}
