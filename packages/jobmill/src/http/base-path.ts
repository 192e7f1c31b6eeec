/** Where the API and the page are when they are not at the root: `/ops/mill`. */
import { JobmillError, shown } from '../job/errors.ts'

const VALID = /^(?:\/[\w.~-]+)*$/

/** Empty for the root. */
export function checkBasePath(given: string): string {
  const path = given.replace(/\/$/, '')
  if (VALID.test(path)) return path
  throw new JobmillError('OPTION_INVALID', 'is not a path', {
    field: 'basePath',
    value: shown(given),
    fix: 'Begin with a slash, and use letters, digits, dots, dashes and underscores: "/ops/mill"',
  })
}

/** The same request without what stands in front. A server that we are mounted into may have taken it away by then. */
export function withoutBase(request: Request, basePath: string): Request {
  if (basePath === '') return request
  const url = new URL(request.url)
  if (url.pathname !== basePath && !url.pathname.startsWith(`${basePath}/`)) return request
  url.pathname = url.pathname.slice(basePath.length) || '/'
  return new Request(url, request)
}
