/** What is said no to, as problem+json (RFC 9457): the code, the field and the fix, and nothing of what is inside. */
import { isJobmillError } from 'jobmill'
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
  const codes = codesOf(error)
  if (codes.some((code) => FULL.has(code)))
    return new Refusal('DISK_FULL', { fix: 'Make room, or send it again later', retryAfter: 60 }, error)
  if (codes.some((code) => AWAY.test(code))) return new Refusal('UNAVAILABLE', {}, error)
  return new Refusal('INTERNAL', {}, error)
}

const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'SQLITE_FULL', '53100'])
const AWAY =
  /^(?:08\w{3}|57P0[1-3]|53300|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|SQLITE_BUSY\w*|STORE_\w+|OUTCOME_UNKNOWN)$/

function codesOf(error: unknown): string[] {
  const codes: string[] = []
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if (isJobmillError(at) || ('code' in at && typeof at.code === 'string')) codes.push(String(at.code))
    if (at instanceof AggregateError) codes.push(...at.errors.flatMap(codesOf))
    if (at.message.startsWith('timeout exceeded when trying to connect')) codes.push('ETIMEDOUT')
  }
  return codes
}
