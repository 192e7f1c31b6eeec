/** Which pages may show Mission Control in a frame: none, unless the host application says so. */
import { JobmillError, shown } from '../job/errors.ts'

const ORIGIN = /^https?:\/\/(?:\*\.)?(?:[\w-]+\.)*[\w-]+(?::\d{1,5})?$/i
const KEYWORDS = ["'self'", "'none'"]
const FIX = `Pass origins such as 'https://admin.example.com', or "'self'" for pages of this origin`

/** As a source list of a content security policy. */
export function checkFrameAncestors(given: unknown = []): readonly string[] {
  if (!Array.isArray(given)) throw wrong('is not a list', given)
  const sources = (given as readonly unknown[]).map((source) => {
    if (typeof source === 'string' && (KEYWORDS.includes(source) || ORIGIN.test(source))) return source
    throw wrong('is not an origin', source)
  })
  if (sources.length > 1 && sources.includes("'none'")) throw wrong("has 'none' and more than that", given)
  return sources.length === 0 ? ["'none'"] : sources
}

function wrong(what: string, value: unknown): JobmillError {
  return new JobmillError('OPTION_INVALID', what, { field: 'frameAncestors', value: shown(value), fix: FIX })
}

/** X-Frame-Options says the same to old browsers; it has no word for other origins, so it is left out for those. */
export function framingHeaders(ancestors: readonly string[]): Readonly<Record<string, string>> {
  const [only] = ancestors.length === 1 ? ancestors : []
  const old = only === "'none'" ? 'DENY' : only === "'self'" ? 'SAMEORIGIN' : null
  return {
    'content-security-policy': `${POLICY}; frame-ancestors ${ancestors.join(' ')}`,
    ...(old !== null && { 'x-frame-options': old }),
  }
}

/** Nothing that is not a file of ours is run, loaded or asked. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'self'; form-action 'none'"
