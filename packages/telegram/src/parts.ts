/** Creates the bots and the mill of a gateway from its config, before any part starts. */
import { jobmill, type Store } from 'jobmill'
import { botOf } from './bots/bot.ts'
import { handlerFor } from './handlers/handler-for.ts'
import type { Base, Inside } from './inside.ts'
import type { GatewayOptions } from './options.ts'
import { upkeepDuty } from './upkeep.ts'
import { LIMITS, sendQueue, updateQueue } from './work/names.ts'
import { sendJob } from './work/send-job.ts'
import { updateJob } from './work/update-job.ts'

/**
 * A job payload is larger than its update: it has extra fields, and may include the update's text as an
 * escaped string.
 */
const PAYLOAD_FACTOR = 4

export function insideOf(base: Base, { config, handlers: own = {} }: GatewayOptions): Inside {
  const bots = config.bots.map((bot) => botOf(bot, handlerFor(bot, base, own), config.apiRoot))
  return { ...base, bots }
}

/** Parallel replies of one bot. */
const SENDERS = 20
/** Heartbeats per lease. */
const SIGNS = 3

/** Bounds the memory of a gateway without a database. */
const IN_MEMORY = { doneMs: 3_600_000, deadMs: 24 * 3_600_000 }

/** A mill with two queues per bot, Telegram's rate limits, and retention. */
export function millOf(inside: Inside, store: Store<never>, { log, platform }: GatewayOptions) {
  const { config, bots } = inside
  const { leaseMs } = config
  const retention = config.database === null ? IN_MEMORY : config.retention
  const doneFor = retention.doneMs ?? ('forever' as const)
  const retain = { done: doneFor, cancelled: doneFor, dead: retention.deadMs ?? ('forever' as const) }
  return jobmill({
    store,
    queues: Object.fromEntries(
      bots.flatMap((bot) => [
        [updateQueue(bot), { workers: bot.concurrency, retain }],
        [sendQueue(bot), { workers: SENDERS, retain }],
      ]),
    ),
    limits: LIMITS,
    retain: { every: config.retention.everyMs },
    ...(leaseMs !== null && { lease: leaseMs, renewEvery: Math.floor(leaseMs / SIGNS) }),
    jobs: bots.flatMap((bot) => [updateJob(bot, inside), sendJob(bot, inside)]),
    duties: [upkeepDuty(inside, config.dedupeMs)],
    payloadLimitBytes: config.maxBodyBytes * PAYLOAD_FACTOR,
    ...(log !== undefined && { log }),
    ...(platform !== undefined && { platform }),
  })
}
