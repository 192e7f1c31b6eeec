/** The Prometheus metrics of the gateway. */
import { Api } from 'grammy'
import type { Mill } from 'jobmill'
import type { WebhookState } from '../bots/webhooks.ts'

/** The outcomes of a received update. */
const RESULTS = ['queued', 'handled', 'duplicate', 'dropped', 'prompted', 'busy', 'dead', 'unstored'] as const
export type Result = (typeof RESULTS)[number]

/** The reasons why a request was rejected. */
const REFUSALS = ['path', 'source', 'secret', 'size', 'busy', 'json'] as const
export type Refusal = (typeof REFUSALS)[number]

export interface Metrics {
  readonly received: (labels: { readonly bot: string; readonly result: Result }) => void
  readonly refused: (reason: Refusal) => void
  readonly sent: (labels: { readonly bot: string; readonly method: string; readonly result: string }) => void
  readonly throttled: (labels: { readonly bot: string }) => void
  readonly answered: (seconds: number) => void
}

/** Handlers and services may name any method, so unknown ones share one series. */
const METHODS = new Set(Object.getOwnPropertyNames(Api.prototype))

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** Counts in the mill once it is known. */
export function metrics(
  slugs: readonly string[],
): Metrics & { readonly attach: (mill: Counting, states: States) => void } {
  let to: ReturnType<typeof registerCounters> | null = null
  return {
    attach(mill, states) {
      to = registerCounters(mill, slugs)
      registerWebhookGauges(mill, states)
    },
    received: (labels) => to?.updates.add(labels),
    refused: (reason) => to?.refused.add({ reason }),
    sent: ({ method, ...labels }) =>
      to?.sends.add({ ...labels, method: METHODS.has(method) ? method : 'other' }),
    throttled: (labels) => to?.throttled.add(labels),
    answered: (seconds) => to?.answered.observe(seconds),
  }
}

type Counting = Pick<Mill<never>, 'counter' | 'histogram' | 'gauge'>

type States = () => Promise<readonly WebhookState[]>

/**
 * The state of the webhooks as Telegram reports it, because a failed delivery may never reach the gateway.
 */
function registerWebhookGauges(mill: Counting, states: States): void {
  mill.gauge({
    name: 'jobmill_telegram_webhook_pending',
    help: 'Updates that wait at Telegram for delivery.',
    labels: { bot: true },
    read: async () =>
      (await states()).map(({ slug, pending }) => ({ labels: { bot: slug }, value: pending })),
  })
  mill.gauge({
    name: 'jobmill_telegram_webhook_last_error_timestamp_seconds',
    help: 'Unix time of the last failed delivery by Telegram; 0 for never.',
    labels: { bot: true },
    read: async () =>
      (await states()).map(({ slug, lastErrorAt }) => ({
        labels: { bot: slug },
        value: (lastErrorAt ?? 0) / 1_000,
      })),
  })
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
