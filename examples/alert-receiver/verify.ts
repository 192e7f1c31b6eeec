/** Verifies the signature of a webhook according to Standard Webhooks, using only Node. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** Older requests are refused, because an attacker may have recorded one and send it again. */
const MOST_AGE_MS = 5 * 60_000

interface SignedRequest {
  readonly headers: IncomingHttpHeaders
  /** The raw body: parsing and serializing it again may change it. */
  readonly body: string
  /** `whsec_…` */
  readonly secret: string
  readonly now: number
}

export function isSigned({ headers, body, secret, now }: SignedRequest): boolean {
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  const signatures = headers['webhook-signature']
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string') return false
  if (!(Math.abs(now - Number(timestamp) * 1_000) <= MOST_AGE_MS)) return false
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest()
  return signatures.split(' ').some((one) => {
    const [version, signature = ''] = one.split(',')
    const given = Buffer.from(signature, 'base64')
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)
  })
}
