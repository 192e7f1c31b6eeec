/** The Prometheus metrics of the gateway. */
import { Api } from 'grammy'
import type { Mill } from 'jobmill'
import type { WebhookState } from '../bots/webhooks.ts'

/** The outcomes of a received update. */
const RESULTS = ['queued', 'handled', 'duplicate', 'dropped', 'prompted', 'busy', 'dead', 'unstored'] as const
export type Result = (typeof RESULTS)[number]

/** The reasons why a request was rejected. */
const REFUSALS = ['path', 'source', 'secret', 'size', 'busy', 'json', 'aborted'] as const
export type Refusal = (typeof REFUSALS)[number]

/** Handlers and services may name any method, so unknown ones share one series. */
const METHODS = new Set(Object.getOwnPropertyNames(Api.prototype))

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** Counts nothing until `attach` passes the mill. */
export function metrics(slugs: readonly string[]) {
  let to: ReturnType<typeof registerCounters> | null = null
  return {
    attach(mill: Counting, states: States): void {
      to = registerCounters(mill, slugs)
      registerWebhookGauges(mill, states)
    },
    received: (bot: string, result: Result): void => to?.updates.add({ bot, result }),
    refused: (reason: Refusal): void => to?.refused.add({ reason }),
    sent: (bot: string, method: string, result: string): void =>
      to?.sends.add({ bot, method: METHODS.has(method) ? method : 'other', result }),
    throttled: (bot: string): void => to?.throttled.add({ bot }),
    answered: (seconds: number): void => to?.answered.observe(seconds),
  }
}

type Counting = Pick<Mill<never>, 'counter' | 'histogram' | 'gauge'>

type States = () => Promise<readonly WebhookState[]>

/**
 * The state of the webhooks as Telegram reports it, because a failed delivery may never reach the gateway.
 */
function registerWebhookGauges(mill: Counting, states: States): void {
  const register = (name: string, help: string, valueOf: (state: WebhookState) => number): void =>
    mill.gauge({
      name,
      help,
      labels: { bot: true },
      read: async () =>
        (await states()).map((state) => ({ labels: { bot: state.slug }, value: valueOf(state) })),
    })
  register(
    'jobmill_telegram_webhook_pending',
    'Updates that Telegram has not delivered yet.',
    ({ pending }) => pending,
  )
  register(
    'jobmill_telegram_webhook_last_error_timestamp_seconds',
    'Unix time of the last failed delivery by Telegram; 0 if none failed.',
    ({ lastErrorAt }) => (lastErrorAt ?? 0) / 1_000,
  )
}

function registerCounters(mill: Counting, slugs: readonly string[]) {
  return {
    updates: mill.counter({
      name: 'jobmill_telegram_updates_total',
      help: 'Received updates by result.',
      labels: { bot: slugs, result: RESULTS },
    }),
    refused: mill.counter({
      name: 'jobmill_telegram_refused_total',
      help: 'Rejected webhook requests by reason.',
      labels: { reason: REFUSALS },
    }),
    sends: mill.counter({
      name: 'jobmill_telegram_sends_total',
      help: 'Bot API calls for replies by result.',
      labels: { bot: slugs, method: true, result: true },
    }),
    throttled: mill.counter({
      name: 'jobmill_telegram_throttled_total',
      help: 'Replies that Telegram throttled (429).',
      labels: { bot: slugs },
    }),
    answered: mill.histogram({
      name: 'jobmill_telegram_webhook_seconds',
      help: 'Response time of webhook requests.',
      buckets: BUCKETS,
    }),
  }
}
