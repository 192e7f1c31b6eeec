/** Applications that are mounted below `/api/apps` and share the access control of the API. */
import { JobmillError } from 'jobmill'
import { checkFunction, checkObject, checkObjectKeys, type Who } from 'jobmill/internal'
import { quote } from 'jobmill/store'

export interface HttpApp {
  /** The title in the menu of Mission Control. */
  readonly title: string
  /** Receives the request with the path after `/api/apps/<name>`, and the authenticated caller. */
  readonly fetch: (request: Request, who: Who) => Response | Promise<Response>
}

/** Keyed by name: lower-case letters, digits and dashes. */
export type HttpApps = Readonly<Record<string, HttpApp>>

const NAME = /^[a-z][a-z0-9-]{0,49}$/
const TITLE_CHARS = 100

export function checkApps(apps: HttpApps): void {
  checkObject(apps, 'apps', "an object such as { uploads: { title: 'Uploads', fetch } }")
  for (const [name, app] of Object.entries(apps)) {
    const field = `apps.${name}`
    if (!NAME.test(name))
      throw new JobmillError('NAME_INVALID', 'is not a valid application name', {
        field: 'apps',
        value: quote(name),
        fix: 'Use at most 50 lower-case letters, digits and dashes, starting with a letter',
      })
    checkObjectKeys(app, field, ['title', 'fetch'])
    const { title, fetch } = app
    if (typeof title !== 'string' || title.trim() === '' || title.length > TITLE_CHARS)
      throw new JobmillError('OPTION_INVALID', `must be text of 1 to ${TITLE_CHARS} characters`, {
        field: `${field}.title`,
        value: quote(title),
        fix: 'Pass a title for the menu of Mission Control',
      })
    checkFunction(
      fetch,
      `${field}.fetch`,
      'Pass a function that takes a Request and the caller and returns a Response',
    )
  }
}

const PREFIX = /^\/api\/apps\/([^/]+)/

/** The application name in a URL, and the path after it. */
export function appAddress(url: string): { readonly name: string; readonly path: string } {
  const { pathname } = new URL(url)
  const [prefix = '', name = ''] = PREFIX.exec(pathname) ?? []
  return { name, path: pathname.slice(prefix.length) || '/' }
}

/** `body` is the text of the body, which has been read. */
export function atPath(request: Request, path: string, body: string | null): Request {
  const url = new URL(request.url)
  url.pathname = path
  const { method, headers, signal } = request
  return body === null ? new Request(url, request) : new Request(url, { method, headers, signal, body })
}

/** Checks properties instead of the class, because a host server may replace the global Response class. */
export function isAnswer(given: unknown): given is Response {
  return typeof given === 'object' && given !== null && 'status' in given && 'headers' in given
}

/** Copies a response so that headers can be added: the headers of a fetched response are immutable. */
export function ownAnswer(response: Response): Response {
  return new Response(response.body, response)
}

/** Wraps thrown values that are not errors, because neither Hono nor loggers expect them. */
export function asError(thrown: unknown, thrower: string): Error {
  if (thrown instanceof Error) return thrown
  const fix = isAnswer(thrown) ? 'Return the Response' : 'Throw an Error'
  return new Error(`${thrower}: threw a value that is not an Error (got ${quote(thrown)}). ${fix}.`)
}
