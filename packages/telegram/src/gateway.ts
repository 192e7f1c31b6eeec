/** The gateway: its parts put together, started and stopped as one. */
import { DEFAULTS, jobmill, type Logger, type Mill, type Platform, type Store } from 'jobmill'
import type { ServeOptions } from 'jobmill/http'
import { openTables, type Tables } from 'jobmill-tables'
import { serveAdmin } from './admin-address.ts'
import { type Bot, botOf } from './bots/bot.ts'
import { reach } from './bots/reach.ts'
import { undelivered, WEBHOOK_PATH, type WebhookState, webhookState, webhookStates } from './bots/webhooks.ts'
import type { GatewayConfig } from './config/config.ts'
import { atOnce, HANDLER_MS } from './door/at-once.ts'
import { health } from './door/health.ts'
import { listen } from './door/listen.ts'
import { receiver } from './door/receive.ts'
import { webhook } from './door/webhook.ts'
import { handlerFor } from './handlers/handler-for.ts'
import type { Handler } from './handlers/handler.ts'
import { logTo } from './log.ts'
import { begun } from './sessions/begun.ts'
import { type Codes, codes } from './sessions/codes.ts'
import { seen } from './sessions/seen.ts'
import { type Schema, STEPS } from './sessions/steps.ts'
import { type Sessions, sessions } from './sessions/sessions.ts'
import { upkeepDuty } from './upkeep.ts'
import type { Fault } from './work/fault.ts'
import { figures } from './work/figures.ts'
import { millOptions } from './work/mill-options.ts'
import { revokedBots } from './work/revoked.ts'
import { sendJob } from './work/send-job.ts'
import { updateJob } from './work/update-job.ts'

export interface GatewayOptions {
  readonly config: GatewayConfig
  /** Handlers of your own, which a bot names in the config. */
  readonly handlers?: Readonly<Record<string, Handler>>
  /** Who may look at Mission Control, as for `serve` of jobmill/http. */
  readonly admin?: Pick<ServeOptions, 'tokens' | 'whoIs' | 'insecure'>
  readonly log?: Logger
  /** For tests. */
  readonly fault?: Fault
  readonly random?: () => number
  readonly platform?: Platform
  /** How long the handler of a synchronous bot may take (default 30 s). */
  readonly handlerMs?: number
}

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

/** A job has a few words more than its update. */
const PAYLOAD_FACTOR = 2

/** Everything that does not begin anything yet. */
function partsOf(options: GatewayOptions, store: Store<never>, tables: Tables<Schema>, hurry: AbortSignal) {
  const { config, handlers: own = {}, fault = () => {}, random = Math.random, platform } = options
  const { handlerMs = HANDLER_MS } = options
  const log = logTo(options.log)
  const open = sessions(tables)
  const allCodes =
    config.auth === null
      ? null
      : codes(tables, config.auth, {
          onShut: () =>
            log('warn', 'too many wrong codes came in: the shared AUTH_SECRET opens nothing for 15 minutes', {
              fix: 'give out codes that work once, with jobmill-telegram codes new',
            }),
        })
  const bots = config.bots.map((bot) => {
    const tools = { auth: config.auth, codes: allCodes, sessions: open, fault, own }
    return botOf(bot, handlerFor(bot, tools), config.apiRoot)
  })
  const revoked = revokedBots(log)
  const counted = figures(bots.map(({ slug }) => slug))
  const leaseMs = config.leaseMs ?? DEFAULTS.instanceLeaseMs
  const marks = { seen: seen(tables, { dedupeMs: config.dedupeMs, leaseMs }), begun: begun(tables) }
  const mill =
    config.database === null
      ? null
      : jobmill({
          ...millOptions(config),
          store,
          jobs: bots.flatMap((bot) => [
            // Also of a synchronous bot: what became a job before it was one is still done.
            updateJob(bot, { bots, sessions: open, seen: marks.seen, fault, random }),
            sendJob(bot, { ...marks, figures: counted, revoked, fault }),
          ]),
          duties: [upkeepDuty({ ...marks, tables, dedupeMs: config.dedupeMs })],
          payloadLimitBytes: config.maxBodyBytes * PAYLOAD_FACTOR,
          ...(options.log === undefined ? {} : { log: options.log }),
          ...(platform === undefined ? {} : { platform }),
        })
  const states = webhookStates(bots)
  if (mill !== null) counted.tell(mill, states)
  const run = atOnce({
    mill,
    tables,
    seen: marks.seen,
    renewMs: leaseMs / 3,
    revoked,
    fault,
    random,
    handlerMs,
    hurry,
    log,
  })
  const receive = receiver({
    bots,
    mill,
    sessions: open,
    seen: marks.seen,
    dedupeMs: config.dedupeMs,
    atOnce: run,
  })
  const knock = webhook({
    botOf: (slug) => bots.find((bot) => bot.slug === slug),
    receive,
    maxBodyBytes: config.maxBodyBytes,
    figures: counted,
    fault,
    log,
  })
  return { log, bots, mill, sessions: open, codes: allCodes, figures: counted, receive, knock, fault, states }
}

/** A start that fails undoes what it began. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { config, platform } = options
  const { store, tables } = await openTables<Schema>(config.database ?? ':memory:', {
    app: 'telegram',
    steps: STEPS,
    onError: (error) =>
      logTo(options.log)('warn', 'a connection to the database was lost', { error: error.message }),
    ...(platform === undefined ? {} : { clock: () => platform.now() }),
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
      figures: counted,
      receive,
      knock,
      fault,
      states,
      ...known
    } = partsOf(options, store, tables, hurried.signal)
    undo.push(async () => bots.forEach((bot) => bot.close()))
    // First, since it says in words why a database cannot be had.
    await mill?.open()
    await tables.open()
    if (mill !== null) undo.push(() => mill.stop(hurried.signal.aborted ? { grace: 0 } : {}))
    const look = health({ mill, tables, undelivered: undelivered(config.mode === 'webhook' ? states : null) })
    const door = await listen(config.listen, (request, response) =>
      (request.url ?? '').startsWith(WEBHOOK_PATH) ? knock(request, response) : look(request, response),
    )
    undo.push(door.close)
    const admin =
      mill === null || config.admin === null ? null : await serveAdmin(mill, config.admin, options.admin)
    if (admin !== null) undo.push(admin.close)
    // Only now: what cannot listen has not begun to work.
    await mill?.start()
    const stopping = new AbortController()
    const { mode, publicUrl } = config
    const tools = { receive, figures: counted, log, fault, signal: stopping.signal, tables, mode, publicUrl }
    const reaching = bots.map((bot) => reach(bot, tools))
    undo.push(async () => {
      stopping.abort()
      await Promise.all(reaching)
    })
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
