/** The job kinds of the demo that is photographed: the background work of a small company. */
import { randomBytes } from 'node:crypto'
import { Dead, defineJob, type JobContext, Throttled } from 'jobmill'
import { z } from 'zod'

const mail = defineJob({
  kind: 'mail.send',
  queue: 'mail',
  maxAttempts: 4,
  backoff: { fixed: '20m' },
  payload: z.object({
    to: z.email(),
    template: z.enum(['welcome', 'invoice', 'reminder']),
    locale: z.string().optional(),
  }),
  run({ payload, log, attempt }) {
    log('rendered the template', { template: payload.template })
    if (payload.to.startsWith('full')) throw new Error(`452 4.2.2 mailbox of ${payload.to} is full`)
    if (payload.to.startsWith('gone')) {
      const cause = new Error('550 5.1.1 user unknown', {
        cause: new Error('connection closed by mx1.example.net:25'),
      })
      throw new Dead(`the server refused ${payload.to}`, { cause })
    }
    if (payload.to.startsWith('late') && attempt < 3)
      throw new Error(`timed out after ${30 + attempt} s waiting for mx2.example.net`)
    return { messageId: `<${payload.to.length}.${attempt}@example.com>` }
  },
})

const webhook = defineJob({
  kind: 'webhook.deliver',
  queue: 'webhooks',
  maxAttempts: 3,
  backoff: { fixed: '15m' },
  run({ payload, log }: JobContext<{ url: string; event: string; signatureToken: string }>) {
    log('posting', { event: payload.event })
    if (payload.url.includes('broken')) throw new Error(`POST ${payload.url} answered 503`)
    if (payload.url.includes('slow')) throw new Throttled({ retryAfter: '10m' })
    return { status: 200 }
  },
})

class StripeConnectionError extends Error {
  override readonly name = 'StripeConnectionError'
}

/** As Stripe does: 14 characters that differ in each request. */
const requestId = (): string => `req_${randomBytes(7).toString('hex')}`

/** Every charge of this version fails. */
export const charge = (isBroken: boolean) =>
  defineJob({
    kind: 'payments.charge',
    queue: 'payments',
    maxAttempts: 1,
    run({ payload, log }: JobContext<{ order: number; cents: number }>) {
      log('charging', { order: payload.order })
      if (!isBroken) return { charged: payload.cents }
      const reason = 'TLS handshake with api.stripe.com failed: unable to get local issuer certificate'
      throw new StripeConnectionError(`${reason} (request ${requestId()})`)
    },
  })

/** Runs until the screenshots are taken. */
const report = defineJob({
  kind: 'report.build',
  queue: 'reports',
  run: ({ progress, log, signal, payload }: JobContext<{ month: string; at: number }>) =>
    new Promise((_, reject) => {
      log('reading the ledger', { month: payload.month })
      log.debug('joining customers', { rows: 41_233 })
      progress(payload.at)
      signal.addEventListener('abort', () => reject(signal.reason as Error))
    }),
})

const resize = defineJob({
  kind: 'image.resize',
  queue: 'media',
  run: ({ payload }: JobContext<{ file: string; width: number }>) => ({ bytes: payload.width * 190 }),
})

/** Uses a partner's rate limit. */
const sync = defineJob({
  kind: 'partner.sync',
  queue: 'default',
  async run({ limit }: JobContext) {
    await limit.acquire('partner-api')
    return 'in step'
  },
})

export const kinds = [mail, webhook, report, resize, sync]
