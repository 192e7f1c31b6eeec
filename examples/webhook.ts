/**
 * Waiting for a webhook: a job starts a payment, and continues when the payment provider calls back. Uses a
 * SQLite file, or PostgreSQL if DATABASE_URL is set.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { defineJob, isJobmillError, jobmill } from 'jobmill'
import { postgres } from 'jobmill/postgres'
import { sqlite } from 'jobmill/sqlite'
import { z } from 'zod'

const SECRET = 'shared with the payment provider'
const Payment = z.object({ status: z.enum(['paid', 'failed']) })

const collect = defineJob({
  kind: 'payment.collect',
  payload: z.object({ cents: z.int() }),
  events: { payment: Payment },
  async run({ payload, job, step }) {
    const callback = `/webhooks/payments/${job.id}`
    await step.run('start the payment', ({ idempotencyKey }) =>
      startPayment(payload.cents, callback, idempotencyKey),
    )
    const payment = await step.waitForEvent('payment', { timeout: '3d' })
    return { status: payment?.status ?? 'no answer' }
  },
})

const url = process.env['DATABASE_URL']
const store = url === undefined ? sqlite('payments.db') : postgres(url)
const mill = jobmill({ store, jobs: [collect], log: 'silent' })
await mill.start()

/** Returns the status of the response. A provider sends a webhook again if it gets 500. */
async function receive(request: IncomingMessage): Promise<number> {
  const body = await text(request)
  if (!isSigned(body, String(request.headers['x-signature']))) return 401
  const id = request.url?.split('/').at(-1) ?? ''
  try {
    // Refused unless it matches the schema of the event.
    await mill.sendEvent(collect, id, 'payment', JSON.parse(body) as z.input<typeof Payment>)
    return 204
  } catch (error) {
    // A repeated webhook may arrive after the job has ended.
    if (isJobmillError(error) && error.code === 'JOB_ENDED') return 204
    // 404 for an unknown job, and 422 for an event that does not match its schema.
    return isJobmillError(error) ? error.statusCode : 500
  }
}

function isSigned(body: string, signature: string): boolean {
  const [expected, got] = [Buffer.from(sign(body)), Buffer.from(signature)]
  return expected.length === got.length && timingSafeEqual(expected, got)
}

function sign(body: string): string {
  return createHmac('sha256', SECRET).update(body).digest('hex')
}

const server = createServer((request, response) => {
  void receive(request).then((status) => response.writeHead(status).end())
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo

const job = await mill.enqueue(collect, { cents: 4_200 })
console.log(`done     ${JSON.stringify(await job.result())}`)
console.log(`again    ${await callBack(`/webhooks/payments/${job.id}`, { status: 'paid' })}`)
console.log(`forged   ${await callBack(`/webhooks/payments/${job.id}`, { status: 'paid' }, 'a guess')}`)
console.log(`invalid  ${await callBack(`/webhooks/payments/${job.id}`, { status: 'refunded' })}`)
await mill.stop()
server.close()

/** Simulates a request to the provider, which calls back soon, perhaps before the job waits. */
function startPayment(cents: number, callback: string, idempotencyKey: string) {
  void callBack(callback, { status: 'paid' }).then((status) => console.log(`webhook  ${status}`))
  return { cents, key: idempotencyKey }
}

async function callBack(path: string, payment: { status: string }, signature?: string): Promise<number> {
  const body = JSON.stringify(payment)
  const headers = { 'x-signature': signature ?? sign(body) }
  const { status } = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body })
  return status
}
