/** The headers of Standard Webhooks: id, time of this attempt, and a signature for each secret. */
import { createHmac } from 'node:crypto'
import { keyOf } from '../../job/alert/alert-options.ts'

export function signedHeaders(
  { id, at, body }: { readonly id: string; readonly at: number; readonly body: string },
  secrets: readonly string[],
): Record<string, string> {
  const seconds = Math.floor(at / 1_000)
  const signatures = secrets.flatMap((secret) => {
    const key = keyOf(secret)
    if (key === null) return []
    return [`v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`]
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signatures.join(' '),
  }
}
