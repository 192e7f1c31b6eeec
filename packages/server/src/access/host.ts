/**
 * Checks the Host header first, because an invalid one would make every later `new URL(request.url)` throw.
 */
import { problem } from '../problem.ts'

const AUTHORITY = /^([\w.~-]+|\[[\da-f:.]+\])(?::\d+)?$/i

/**
 * Accepts a name, an IPv4 address or an IPv6 address in brackets, with an optional port. Other spellings
 * (127.1, 0x7f.1) are refused, because a URL parser would turn them into a different address.
 */
export function isAuthority(host: string | undefined): boolean {
  const name = AUTHORITY.exec(host ?? '')?.[1]
  const url = `http://${host}`
  return name !== undefined && URL.canParse(url) && new URL(url).hostname === name.toLowerCase()
}

export function hostInvalid(): Response {
  return problem('HOST_INVALID', {
    detail: 'must be a name or an address, with an optional port',
    field: 'host',
    fix: 'Send a Host header such as jobs.example.com, 127.0.0.1:8787 or [::1]:8787',
  })
}
