/**
 * A worker process of the shop, in one version of its program. Version 2.15.0 cannot charge and builds no
 * reports, until its cause is fixed. It reports `ready`; SIGTERM stops it.
 */
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { implement, type JobContext, jobmill } from 'jobmill'
import { type Place, storeAt } from '../../cluster/places.ts'
import {
  charge,
  confirm,
  importing,
  index,
  invoice,
  LIMIT,
  mail,
  QUEUES,
  report,
  resize,
  ship,
  sweep,
  sync,
  transcode,
  webhook,
} from './kinds.ts'

export interface WorkerTask {
  readonly place: Place
  readonly label: string
  readonly version: string
  /** Once this file exists, version 2.15.0 works too. */
  readonly fixed: string
}

const { place, label, version, fixed } = JSON.parse(process.argv[2] ?? '{}') as WorkerTask

class StripeConnectionError extends Error {
  override readonly name = 'StripeConnectionError'
}

/** As Stripe does: 14 characters that differ in each request. */
const requestId = (): string =>
  `req_${Array.from({ length: 14 }, () => '0123456789ABCDEFabcdefghij'[Math.floor(Math.random() * 26)]).join('')}`

const isBroken = (): boolean => version === '2.15.0' && !existsSync(fixed)

const untilStopped = ({ signal, log }: Pick<JobContext, 'signal' | 'log'>): Promise<null> => {
  log('started')
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error))
  })
}

const jobs = [
  implement(charge, () => {
    if (!isBroken()) return { charged: true }
    const reason = 'TLS handshake with api.stripe.com failed: unable to get local issuer certificate'
    throw new StripeConnectionError(`${reason} (request ${requestId()})`)
  }),
  implement(report, () => {
    if (isBroken()) throw new Error('relation "daily_totals" does not exist')
    return { pages: 12 }
  }),
  implement(webhook, ({ payload: { host } }) => {
    if (host.startsWith('broken')) throw new Error(`POST https://${host}/hooks answered 503`)
    return { status: 200 }
  }),
  // It listens to its abort signal, so an operator can stop it.
  implement(transcode, untilStopped),
  // Shipping waits for the warehouse, and the next shipment of the customer waits for it.
  implement(ship, untilStopped),
  // Slower than jobs are enqueued, so that the backlog grows.
  implement(importing, ({ signal }) => sleep(1_000, null, { signal })),
  ...[mail, resize, confirm, index, invoice, sweep, sync].map((kind) =>
    implement(kind, () => ({ ok: true })),
  ),
]

const mill = jobmill({
  store: await storeAt(place),
  jobs,
  queues: QUEUES,
  limits: { [LIMIT]: { rate: 100, per: '1s' } },
  instance: { label, version },
  log: 'silent',
  grace: 0,
})

// The parent process is gone.
process.on('disconnect', () => process.exit())
// Ctrl+C reaches every process of the terminal; the parent decides.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => void mill.stop().then(() => process.disconnect()))
await mill.start()
process.send?.('ready')
