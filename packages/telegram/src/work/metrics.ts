/** What the gateway counts, for Prometheus. */
import { Api } from 'grammy'
import type { Mill } from 'jobmill'
import type { WebhookState } from '../bots/webhooks.ts'

/** How an update was received. */
const RESULTS = [
  'queued',
  'handled',
  'duplicate',
  'dropped',
  'prompted',
  'failed',
  'busy',
  'dead',
  'unstored',
] as const
export type Result = (typeof RESULTS)[number]

/** Why a request did not become an update. */
const REFUSALS = ['path', 'source', 'secret', 'size', 'json'] as const
export type Refusal = (typeof REFUSALS)[number]

export interface Metrics {
  readonly received: (labels: { readonly bot: string; readonly result: Result }) => void
  readonly refused: (reason: Refusal) => void
  readonly sent: (labels: { readonly bot: string; readonly method: string; readonly result: string }) => void
  readonly throttled: (labels: { readonly bot: string }) => void
  readonly answered: (seconds: number) => void
}

/** A handler may name any method, and a service of yours too: what nobody knows is one series. */
const METHODS = new Set(Object.getOwnPropertyNames(Api.prototype))

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** Counts for whichever mill it is told of; before that, and without one, there is nobody to tell. */
export function metrics(
  slugs: readonly string[],
): Metrics & { readonly tell: (mill: Counting, states: States) => void } {
  let to: ReturnType<typeof registered> | null = null
  return {
    tell(mill, states) {
      to = registered(mill, slugs)
      watched(mill, states)
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

/** What Telegram itself says of our webhooks: the first to know that nothing arrives. */
function watched(mill: Counting, states: States): void {
  mill.gauge({
    name: 'jobmill_telegram_webhook_pending',
    help: 'Updates that Telegram has not been able to deliver yet.',
    labels: { bot: true },
    read: async () =>
      (await states()).map(({ slug, pending }) => ({ labels: { bot: slug }, value: pending })),
  })
  mill.gauge({
    name: 'jobmill_telegram_webhook_last_error_timestamp_seconds',
    help: 'When Telegram last failed to deliver an update; 0 for never.',
    labels: { bot: true },
    read: async () =>
      (await states()).map(({ slug, lastErrorAt }) => ({
        labels: { bot: slug },
        value: (lastErrorAt ?? 0) / 1_000,
      })),
  })
}

function registered(mill: Counting, slugs: readonly string[]) {
  return {
    updates: mill.counter({
      name: 'jobmill_telegram_updates_total',
      help: 'Updates received, by what became of them.',
      labels: { bot: slugs, result: RESULTS },
    }),
    refused: mill.counter({
      name: 'jobmill_telegram_refused_total',
      help: 'Requests that were no update of a bot of ours.',
      labels: { reason: REFUSALS },
    }),
    sends: mill.counter({
      name: 'jobmill_telegram_sends_total',
      help: 'Calls of the Bot API for replies, by how they ended.',
      labels: { bot: slugs, method: true, result: true },
    }),
    throttled: mill.counter({
      name: 'jobmill_telegram_throttled_total',
      help: 'Replies that Telegram refused for a while (429).',
      labels: { bot: slugs },
    }),
    answered: mill.histogram({
      name: 'jobmill_telegram_webhook_seconds',
      help: 'How long Telegram waited for the answer to a webhook.',
      buckets: BUCKETS,
    }),
  }
}
