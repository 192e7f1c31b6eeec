/** Creates the parts of a gateway from its config, before any of them starts. */
import { jobmill, type Store } from 'jobmill'
import { DEFAULTS, systemPlatform } from 'jobmill/internal'
import type { Tables } from 'jobmill-tables'
import { botOf } from './bots/bot.ts'
import { webhookStates } from './bots/webhooks.ts'
import { atOnce } from './intake/at-once.ts'
import { receiver } from './intake/receive.ts'
import { HANDLER_MS } from './intake/run-in-time.ts'
import { hidingCodes } from './intake/hide-codes.ts'
import { sayer } from './intake/say.ts'
import { webhook } from './intake/webhook.ts'
import { handlerFor } from './handlers/handler-for.ts'
import { logTo } from './log.ts'
import type { GatewayOptions } from './options.ts'
import { startedReplies } from './sessions/started-replies.ts'
import { codes } from './sessions/codes.ts'
import { updateClaims } from './sessions/update-claims.ts'
import type { Schema } from './sessions/steps.ts'
import { sessions } from './sessions/sessions.ts'
import { upkeepDuty } from './upkeep.ts'
import { metrics } from './work/metrics.ts'
import { millOptions } from './work/mill-options.ts'
import { revokedBots } from './work/revoked.ts'
import { sendJob } from './work/send-job.ts'
import { updateJob } from './work/update-job.ts'

/**
 * A job payload is larger than its update: it has extra fields, and may include the update's text as an
 * escaped string.
 */
const PAYLOAD_FACTOR = 4

export function partsOf(
  options: GatewayOptions,
  store: Store<never>,
  tables: Tables<Schema>,
  hurry: AbortSignal,
) {
  const { config, handlers: own = {}, fault = () => {}, random = Math.random, platform } = options
  const { handlerMs = HANDLER_MS } = options
  const log = logTo(options.log)
  const open = sessions(tables, config.bots)
  const allCodes =
    config.auth === null
      ? null
      : codes(tables, config.auth, {
          onShut: () =>
            log('warn', 'too many wrong codes, the shared AUTH_SECRET is disabled for 15 minutes', {
              fix: 'create one-time codes with jobmill-telegram codes new',
            }),
        })
  const bots = config.bots.map((bot) => {
    const tools = { auth: config.auth, codes: allCodes, sessions: open, fault, own }
    return botOf(bot, handlerFor(bot, tools), config.apiRoot)
  })
  const revoked = revokedBots(log)
  const counted = metrics(bots.map(({ slug }) => slug))
  const leaseMs = config.leaseMs ?? DEFAULTS.instanceLeaseMs
  const marks = {
    claims: updateClaims(tables, { dedupeMs: config.dedupeMs, leaseMs }),
    replies: startedReplies(tables, store),
  }
  const upkeep = { ...marks, tables, dedupeMs: config.dedupeMs }
  const mill =
    config.database === null
      ? null
      : jobmill({
          ...millOptions(config),
          store,
          jobs: bots.flatMap((bot) => [
            // Synchronous bots need both kinds too: for updates that became jobs, and for replies.
            updateJob(bot, {
              bots,
              sessions: open,
              claims: marks.claims,
              now: () => nowIn(tables),
              fault,
              random,
            }),
            sendJob(bot, { ...marks, metrics: counted, revoked, fault }),
          ]),
          duties: [upkeepDuty(upkeep)],
          payloadLimitBytes: config.maxBodyBytes * PAYLOAD_FACTOR,
          ...(options.log === undefined ? {} : { log: options.log }),
          ...(platform === undefined ? {} : { platform }),
        })
  const states = webhookStates(bots)
  if (mill !== null) counted.attach(mill, states)
  const run = atOnce({
    mill,
    tables,
    claims: marks.claims,
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
    say: sayer({ mill, tables, dedupeMs: config.dedupeMs }),
    sessions: open,
    claims: marks.claims,
    dedupeMs: config.dedupeMs,
    atOnce: hidingCodes(run, hurry),
    log,
  })
  const onWebhook = webhook({
    botOf: (slug) => bots.find((bot) => bot.slug === slug),
    receive,
    maxBodyBytes: config.maxBodyBytes,
    sources: config.sources,
    metrics: counted,
    platform: platform ?? systemPlatform,
    fault,
    log,
  })
  return {
    log,
    bots,
    mill,
    sessions: open,
    codes: allCodes,
    metrics: counted,
    receive,
    onWebhook,
    fault,
    states,
    upkeep,
  }
}

/** The database clock, which all processes share. */
async function nowIn({ db, now }: Tables<Schema>): Promise<number> {
  return (await db.selectNoFrom(now.as('now')).executeTakeFirstOrThrow()).now
}
