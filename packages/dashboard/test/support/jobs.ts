/** Job kinds for the dashboard tests: one for each outcome. */
import { z } from 'zod'
import { Dead, defineJob, type JobContext } from '../../../jobmill/src/index.ts'

const echo = defineJob({
  kind: 'echo',
  run({ payload, log }: JobContext) {
    log('seen', { at: 'echo' })
    return payload
  },
})

/** Fails permanently at once, with a cause. The message has a variable part. */
const dies = defineJob({
  kind: 'dies',
  run({ job }: JobContext) {
    const cause = new Error('connect ECONNREFUSED 10.0.0.7:25')
    throw new Dead(`the server said no to ${job.id}`, { cause })
  },
})

/** Fails each time, and is retried an hour later. */
const fails = defineJob({
  kind: 'fails',
  maxAttempts: 5,
  backoff: { fixed: '1h' },
  run({ attempt, log }: JobContext) {
    log(`attempt ${attempt} begins`)
    throw new Error(`attempt ${attempt} failed`)
  },
})

class StripeConnectionError extends Error {
  override readonly name = 'StripeConnectionError'
}

/** Fails permanently, with the id of a request in the message. It can be found by that id. */
const charges = defineJob({
  kind: 'payments.charge',
  indexedPayload: ['request'],
  maxAttempts: 1,
  run({ payload }: JobContext<{ request: string }>) {
    const reason = 'TLS handshake with api.stripe.com failed: unable to get local issuer certificate'
    throw new StripeConnectionError(`${reason} (request ${payload.request})`)
  },
})

/** Fails permanently, with free text in the message. */
const greets = defineJob({
  kind: 'greet',
  maxAttempts: 1,
  run({ payload }: JobContext<{ text: string }>) {
    throw new Error(payload.text)
  },
})

/** Records a step, enqueues children if the payload has pages, and waits for an event. */
const onboards = defineJob({
  kind: 'onboards',
  version: 2,
  async run({ payload: { name, pages }, step }: JobContext<{ name: string; pages?: readonly number[] }>) {
    await step.run('create account', () => ({ name }))
    if (pages !== undefined) await step.children('pages', echo, pages)
    return step.waitForEvent('survey', { timeout: '14d' })
  },
})

/** Runs until it is cancelled. */
const holds = defineJob({
  kind: 'holds',
  queue: 'slow',
  run: ({ signal, progress, log }: JobContext) =>
    new Promise((_, reject) => {
      progress(40)
      log('holding')
      signal.addEventListener('abort', () => reject(signal.reason as Error))
    }),
})

/** Its payload has a schema. */
const mail = defineJob({
  kind: 'mail.send',
  queue: 'mail',
  payload: z.object({
    to: z.email(),
    subject: z.string().min(1).max(100),
    copies: z.int().min(1).max(5).optional(),
  }),
  run: () => ({ sent: true }),
})

export const jobs = [echo, dies, fails, charges, greets, onboards, holds, mail]
