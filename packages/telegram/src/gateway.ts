/** The gateway: its parts put together, started and stopped as one. */
import { type Mill, systemPlatform } from 'jobmill'
import { openTables } from 'jobmill-tables'
import { serveAdmin } from './admin-address.ts'
import type { Bot } from './bots/bot.ts'
import { reach } from './bots/reach.ts'
import { undelivered, WEBHOOK_PATH, type WebhookState, webhookState } from './bots/webhooks.ts'
import { health } from './intake/health.ts'
import { listen } from './intake/listen.ts'
import { logTo } from './log.ts'
import { checkOptions, type GatewayOptions } from './options.ts'
import { partsOf } from './parts.ts'
import type { Codes } from './sessions/codes.ts'
import { type Schema, STEPS } from './sessions/steps.ts'
import type { Sessions } from './sessions/sessions.ts'
import { upkeepTimer } from './upkeep.ts'
import { warnOfUnserved } from './work/unserved-kinds.ts'

export interface Gateway {
  /** Where webhooks arrive. */
  readonly url: string
  /** Mission Control; null without. */
  readonly adminUrl: string | null
  readonly bots: readonly Bot[]
  /** Null without a database. */
  readonly mill: Mill<never> | null
  readonly sessions: Sessions
  /** Null when nothing asks for a session. */
  readonly codes: Codes | null
  /** How Telegram fares with sending us updates. */
  readonly webhooks: () => Promise<WebhookState[]>
  /** Takes no more updates, answers those that it has, lets jobs go on for the grace, and closes everything. */
  readonly stop: () => Promise<void>
  /** Beside `stop`: gives what runs no more time, and ends the programs that it started. */
  readonly hurry: () => void
}

/** A start that fails undoes what it began. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  checkOptions(options)
  const { config } = options
  const { store, tables } = await openTables<Schema>(config.database ?? ':memory:', {
    app: 'telegram',
    steps: STEPS,
    onError: (error) =>
      logTo(options.log)('warn', 'a connection to the database was lost', { error: error.message }),
  })
  const undo: (() => Promise<unknown>)[] = [() => tables.close()]
  const hurried = new AbortController()
  const stop = async (): Promise<void> => {
    for (const step of undo.splice(0).toReversed()) await step()
  }
  try {
    const {
      mill,
      bots,
      log,
      metrics: counted,
      receive,
      knock,
      fault,
      states,
      upkeep,
      ...known
    } = partsOf(options, store, tables, hurried.signal)
    undo.push(async () => bots.forEach((bot) => bot.close()))
    if (mill === null) {
      const end = upkeepTimer(upkeep, options.platform ?? systemPlatform, {
        onError: (error) => log('warn', 'what is over could not be deleted', { error: String(error) }),
        onDeleted: (counts) => log('info', 'deleted what is over', counts),
      })
      undo.push(async () => end())
    }
    // First, since it says in words why a database cannot be had.
    await mill?.open()
    await tables.open()
    if (mill !== null) undo.push(() => mill.stop(hurried.signal.aborted ? { grace: 0 } : {}))
    const look = health({
      mill,
      tables,
      bots,
      undelivered: undelivered(config.mode === 'webhook' ? states : null),
    })
    const door = await listen(config.listen, (request, response) =>
      (request.url ?? '').startsWith(WEBHOOK_PATH) ? knock(request, response) : look(request, response),
    )
    undo.push(door.close)
    const admin =
      mill === null || config.admin === null ? null : await serveAdmin(mill, config.admin, options.admin)
    if (admin !== null) undo.push(admin.close)
    for (const warning of admin?.warnings ?? []) log('warn', `Mission Control: ${warning}`, {})
    // Only now: what cannot listen has not begun to work.
    await mill?.start()
    if (mill !== null) await warnOfUnserved(mill, log)
    const stopping = new AbortController()
    const { mode, publicUrl } = config
    const tools = { receive, metrics: counted, log, fault, signal: stopping.signal, tables, mode, publicUrl }
    const reaching = bots.map((bot) => reach(bot, tools))
    undo.push(async () => {
      stopping.abort()
      await Promise.all(reaching)
    })
    log('info', 'gateway started', { url: door.url, bots: bots.length })
    return {
      ...known,
      url: door.url,
      adminUrl: admin?.url ?? null,
      bots,
      mill,
      webhooks: () => Promise.all(bots.map(webhookState)),
      stop,
      hurry() {
        hurried.abort()
        void mill?.stop({ grace: 0 })
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}
