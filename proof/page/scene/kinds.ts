/** The 13 kinds and 11 queues of a shop. Its worker processes implement them. */
import { declareJob } from 'jobmill'

export interface OfCustomer {
  readonly customer: { readonly id: string }
}

const declared = (kind: string, queue: string) => declareJob<OfCustomer>({ kind, queue, maxAttempts: 1 })

export const charge = declared('payments.charge', 'payments')
export const mail = declared('mail.send', 'mail')
export const transcode = declared('video.transcode', 'media')
export const resize = declared('image.resize', 'media')
export const confirm = declared('order.confirm', 'orders')
export const ship = declared('order.ship', 'orders')
export const webhook = declareJob<OfCustomer & { readonly host: string }>({
  kind: 'webhook.deliver',
  queue: 'webhooks',
  maxAttempts: 1,
})
export const index = declared('search.index', 'search')
export const report = declareJob<null>({ kind: 'report.build', queue: 'reports', maxAttempts: 1 })
export const importing = declared('customer.import', 'imports')
export const invoice = declared('invoice.create', 'billing')
export const sweep = declared('session.sweep', 'sessions')
export const sync = declared('crm.sync', 'crm')

/** The limit of a queue. */
export const LIMIT = 'crm-api'

/** The workers of each queue, over all processes. */
export const QUEUES = {
  payments: { workers: 8 },
  mail: { workers: 4 },
  media: { workers: 4 },
  orders: { workers: 4 },
  webhooks: { workers: 8 },
  search: { workers: 2 },
  reports: { workers: 2 },
  imports: { workers: 1 },
  billing: { workers: 4 },
  sessions: { workers: 2 },
  crm: { workers: 4, limit: LIMIT },
} as const
