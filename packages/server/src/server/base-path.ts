/** The path prefix of the API and Mission Control, such as `/ops/mill`. */
import { JobmillError } from 'jobmill'
import { quote } from 'jobmill/store'

/** Browsers and proxies resolve the segments `.` and `..`, so these never arrive. */
const VALID = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)*$/

/** Returns an empty string for the root. */
export function checkBasePath(given: unknown): string {
  const path = typeof given === 'string' ? given.replace(/\/$/, '') : null
  if (path !== null && VALID.test(path)) return path
  throw new JobmillError('OPTION_INVALID', 'is not a valid path prefix', {
    field: 'basePath',
    value: quote(given),
    fix: 'Pass a path such as "/ops/mill": letters, digits and . _ ~ - after each slash, but no segment . or ..',
  })
}

/** Removes the prefix from the URL. A host server may already have removed it. */
export function withoutBase(request: Request, basePath: string): Request {
  if (basePath === '') return request
  const url = new URL(request.url)
  if (url.pathname !== basePath && !url.pathname.startsWith(`${basePath}/`)) return request
  url.pathname = url.pathname.slice(basePath.length) || '/'
  return new Request(url, request)
}
