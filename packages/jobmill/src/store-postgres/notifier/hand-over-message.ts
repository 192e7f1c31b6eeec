/** The messages of remote dispatch between processes, as text. */
import { UUID } from '../../job/names.ts'
import type { NewJob } from '../../job/new-job.ts'
import type { StandBy } from '../../store/types/claim.ts'

/** An idle worker offer, sent to the process that enqueues. */
export interface Offered extends StandBy {
  /** The process that made the offer. */
  readonly from: string
}

/** A leased job, sent to the process that made the offer. */
export interface DeliveredJob {
  readonly offer: number
  readonly from: string
  readonly instance: string
  readonly job: Pick<NewJob, 'id' | 'kind' | 'queue' | 'priority' | 'maxAttempts' | 'payload'>
}

/** NOTIFY accepts at most 8,000 bytes, and the database adds a token and an instant in front. */
const MOST_BYTES = 7_500

/** Undefined if the message is too long for NOTIFY. */
export function deliveryText(delivered: DeliveredJob): string | undefined {
  const text = JSON.stringify(delivered)
  return Buffer.byteLength(text) <= MOST_BYTES ? text : undefined
}

type HandOverMessage =
  | { readonly is: 'offer'; readonly offer: Offered }
  | { readonly is: 'job'; readonly token: number; readonly at: number; readonly message: DeliveredJob }

/**
 * Undefined for a message in an unknown format, for example from another release. The database sends a job as
 * "token at message".
 */
export function readHandOver(text: string): HandOverMessage | undefined {
  const [, token, at, json = text] = /^(\d{1,16}) (\d{1,15}) (.*)$/s.exec(text) ?? []
  const message = readObject(json)
  if (token === undefined) return isOffer(message) ? { is: 'offer', offer: message } : undefined
  return isDelivery(message) ? { is: 'job', token: Number(token), at: Number(at), message } : undefined
}

function readObject(json: string): object {
  try {
    const message: unknown = JSON.parse(json)
    return typeof message === 'object' && message !== null ? message : {}
  } catch {
    return {}
  }
}

function isOffer(message: Partial<Offered>): message is Offered {
  return (
    isUuid(message.instance) &&
    isText(message.from) &&
    isNumber(message.offer) &&
    isText(message.queue) &&
    isText(message.kind)
  )
}

function isDelivery(message: Partial<DeliveredJob>): message is DeliveredJob {
  const { job } = message
  return (
    isUuid(message.instance) &&
    isText(message.from) &&
    isNumber(message.offer) &&
    typeof job === 'object' &&
    (job as object | null) !== null &&
    isUuid(job.id) &&
    isText(job.queue) &&
    isText(job.kind) &&
    isText(job.payload) &&
    isNumber(job.priority) &&
    isNumber(job.maxAttempts)
  )
}

const isUuid = (value: unknown): boolean => typeof value === 'string' && UUID.test(value)
const isText = (value: unknown): boolean => typeof value === 'string'
const isNumber = (value: unknown): boolean => Number.isSafeInteger(value)
