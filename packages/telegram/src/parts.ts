/** Creates the parts of a gateway from its config, before any of them starts. */
import { jobmill, type Store } from 'jobmill'
import { systemPlatform } from 'jobmill/internal'
import type { Tables } from 'jobmill-tables'
import { botOf } from './bots/bot.ts'
import { webhookStates } from './bots/webhooks.ts'
import { receiver } from './intake/receive.ts'
import { sayer } from './intake/say.ts'
import { HANDLER_MS, untilEnded } from './intake/until-ended.ts'
import { webhook } from './intake/webhook.ts'
import { concealed } from './handlers/auth.ts'
import { handlerFor } from './handlers/handler-for.ts'
import { logTo } from './log.ts'
import type { GatewayOptions } from './options.ts'
import { startedReplies } from './sessions/started-replies.ts'
import { codes } from './sessions/codes.ts'
import type { Schema } from './sessions/steps.ts'
import { sessions } from './sessions/sessions.ts'
import type { Shutdown } from './shutdown.ts'
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
  { stopping, hurried }: Pick<Shutdown, 'stopping' | 'hurried'>,
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
  const replies = startedReplies(tables, store)
  const hasDatabase = config.database !== null
  const mill = jobmill({
    ...millOptions(config),
    store,
    jobs: bots.flatMap((bot) => [
      updateJob(bot, { bots, sessions: open, handlerMs, hasDatabase, fault, random }),
      sendJob(bot, { replies, metrics: counted, revoked, fault }),
    ]),
    duties: [upkeepDuty({ tables, replies, dedupeMs: config.dedupeMs })],
    payloadLimitBytes: config.maxBodyBytes * PAYLOAD_FACTOR,
    ...(options.log === undefined ? {} : { log: options.log }),
    ...(platform === undefined ? {} : { platform }),
  })
  const states = webhookStates(bots)
  counted.attach(mill, states)
  const receive = receiver({
    bots,
    mill,
    isDurable: hasDatabase,
    say: sayer({ mill, dedupeMs: config.dedupeMs }),
    sessions: open,
    dedupeMs: config.dedupeMs,
    // Without a database, Telegram keeps the updates that have not ended when the gateway stops.
    untilEnded: untilEnded({ mill, handlerMs, signal: hasDatabase ? stopping : hurried, log }),
    conceal: (bot, facts) => (allCodes === null ? facts : concealed(bot, facts, allCodes.seal)),
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
  }
}
