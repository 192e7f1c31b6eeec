/** What the config means for the mill: queues of each bot, budgets of Telegram, how long things are kept. */
import type { MillOptions } from 'jobmill'
import type { GatewayConfig } from '../config/config.ts'
import { LIMITS, sendQueue, updateQueue } from './names.ts'

/** Replies of a bot that are on their way at once. */
const SENDERS = 20
/** A process says three times within its lease that it is alive. */
const SIGNS = 3

function queuesOf({ bots, retention }: Pick<GatewayConfig, 'bots' | 'retention'>) {
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
