/** Responds to refusals with problem+json (RFC 9457): code, field and fix, without internals. */
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

/** Maps an error to a refusal. For internal faults, only the code is disclosed. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  if (isFull(error))
    return new Refusal('DISK_FULL', { fix: 'Free some space, or try again later', retryAfter: 60 }, error)
  if (codesOf(error).some(isTransient)) return new Refusal('UNAVAILABLE', {}, error)
  return new Refusal('INTERNAL', {}, error)
}

const NETWORK = /^(?:ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|EPIPE|ETIMEDOUT)$/
const MILL = /^(?:STORE_\w+|OUTCOME_UNKNOWN|SCHEMA_\w+|MILL_\w+)$/
/** Every SQLSTATE has a digit; system error codes have none or begin with E. */
const SQLSTATE = /^(?=.*\d)[0-9A-DF-Z][0-9A-Z]{4}$/
const DATA = /^(?:22|23|54)\w{3}$|^42804$|^42846$|^SQLITE_(?:TOOBIG|CONSTRAINT|MISMATCH|RANGE)/

/**
 * The rule of docs/reference/errors.md: only an error in the data is final. Every other database error may be
 * transient, even an undocumented one.
 */
function isTransient(code: string): boolean {
  if (NETWORK.test(code) || MILL.test(code)) return true
  return (code.startsWith('SQLITE_') || SQLSTATE.test(code)) && !DATA.test(code)
}
