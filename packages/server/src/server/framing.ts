/** Which pages may embed Mission Control in a frame: none by default. */
import { JobmillError } from 'jobmill'
import { quote } from 'jobmill/store'

const ORIGIN = /^https?:\/\/(?:\*\.)?(?:[\w-]+\.)*[\w-]+(?::\d{1,5})?$/i
const KEYWORDS = ["'self'", "'none'"]
const FIX = `Pass origins such as 'https://admin.example.com', or "'self'" for pages of this origin`

/** Returns a source list for the content security policy. */
export function checkFrameAncestors(given: unknown = []): readonly string[] {
  if (!Array.isArray(given)) throw wrong('must be a list', given)
  const sources = (given as readonly unknown[]).map((source) => {
    if (typeof source === 'string' && (KEYWORDS.includes(source) || ORIGIN.test(source))) return source
    throw wrong('is not a valid origin', source)
  })
  if (sources.length > 1 && sources.includes("'none'"))
    throw wrong("cannot combine 'none' with other sources", given)
  return sources.length === 0 ? ["'none'"] : sources
}

function wrong(what: string, value: unknown): JobmillError {
  return new JobmillError('OPTION_INVALID', what, { field: 'frameAncestors', value: quote(value), fix: FIX })
}

/** X-Frame-Options covers old browsers. It cannot express other origins, so it is omitted for those. */
export function framingHeaders(ancestors: readonly string[]): Readonly<Record<string, string>> {
  const [only] = ancestors.length === 1 ? ancestors : []
  const old = only === "'none'" ? 'DENY' : only === "'self'" ? 'SAMEORIGIN' : null
  return {
    'content-security-policy': `${POLICY}; frame-ancestors ${ancestors.join(' ')}`,
    ...(old !== null && { 'x-frame-options': old }),
  }
}

/** Allows only our own files and connections to this origin. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'self'; form-action 'none'"
