/** What is said no to, as problem+json (RFC 9457): the code, the field and the fix, and nothing of what is inside. */
import { codesOf, isFull } from '../fault-codes.ts'
import { Refusal, REFUSALS } from '../refusal.ts'

export function problem(refusal: Refusal): Response {
  const { code, status, details } = refusal
  const { retryAfter, headers = {}, ...said } = details
  const body = { type: `urn:jobmill-uploads:${code}`, title: REFUSALS[code][1], status, code, ...said }
  const sent = new Headers({
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    ...headers,
  })
  const after = retryAfter ?? (status === 503 ? 2 : undefined)
  if (after !== undefined) sent.set('retry-after', String(after))
  if (status === 401) sent.set('www-authenticate', 'Bearer')
  return Response.json(body, { status, headers: sent })
}

/** What a fault is to whoever asked. Of those on our side nothing is told but the code. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  if (isFull(error))
    return new Refusal('DISK_FULL', { fix: 'Make room, or send it again later', retryAfter: 60 }, error)
  if (codesOf(error).some((code) => AWAY.test(code))) return new Refusal('UNAVAILABLE', {}, error)
  return new Refusal('INTERNAL', {}, error)
}

/** By classes of PostgreSQL: the connection, the state of the transaction, what was rolled back, resources, locks, operators, the system, and anything. */
const AWAY =
  /^(?:(?:08|25|40|53|55|57|58|XX)\w{3}|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|SQLITE_(?:BUSY|LOCKED|PROTOCOL|IOERR|NOMEM|INTERRUPT)\w*|STORE_\w+|OUTCOME_UNKNOWN)$/
