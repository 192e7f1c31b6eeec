/** Derives the mill's options from the config: queues per bot, Telegram's rate limits, and retention. */
import type { MillOptions } from 'jobmill'
import type { GatewayConfig } from '../config/config.ts'
import { LIMITS, sendQueue, updateQueue } from './names.ts'

/** Parallel replies of one bot. */
const SENDERS = 20
/** Heartbeats per lease. */
const SIGNS = 3

/** Bounds the memory of a gateway without a database. */
const IN_MEMORY = { doneMs: 3_600_000, deadMs: 24 * 3_600_000 }

function queuesOf({ bots, database, ...config }: Pick<GatewayConfig, 'bots' | 'database' | 'retention'>) {
  const retention = database === null ? IN_MEMORY : config.retention
  const doneFor = retention.doneMs ?? ('forever' as const)
  const retain = { done: doneFor, cancelled: doneFor, dead: retention.deadMs ?? ('forever' as const) }
  return Object.fromEntries(
    bots.flatMap((bot) => [
      [updateQueue(bot), { workers: bot.concurrency, retain }],
      [sendQueue(bot), { workers: SENDERS, retain }],
    ]),
  )
}

export function millOptions(
  config: GatewayConfig,
): Pick<MillOptions, 'queues' | 'limits' | 'retain' | 'lease' | 'renewEvery'> {
  const { retention, leaseMs } = config
  return {
    queues: queuesOf(config),
    limits: LIMITS,
    retain: { every: retention.everyMs },
    ...(leaseMs === null ? {} : { lease: leaseMs, renewEvery: Math.floor(leaseMs / SIGNS) }),
  }
}
