/** Applications behind the same door: what is given of them, checked, and the request that reaches one. */
import { JobmillError, shown } from '../job/errors.ts'
import { checkObject, checkObjectKeys } from '../job/known-keys.ts'
import type { Who } from './access/roles.ts'

export interface HttpApp {
  /** For people: in the menu of Mission Control. */
  readonly title: string
  /** Gets the request with what stands behind `/api/apps/<name>` as its path, and who asks. */
  readonly fetch: (request: Request, who: Who) => Response | Promise<Response>
}

/** By name: lower case letters, digits and dashes. */
export type HttpApps = Readonly<Record<string, HttpApp>>

const NAME = /^[a-z][a-z0-9-]{0,49}$/
const TITLE_CHARS = 100

export function checkApps(apps: HttpApps): HttpApps {
  checkObject(apps, 'apps', "an object such as { uploads: { title: 'Uploads', fetch } }")
  for (const [name, app] of Object.entries(apps)) {
    const field = `apps.${name}`
    if (!NAME.test(name))
      throw new JobmillError('NAME_INVALID', 'is not a name that an application can have', {
        field: 'apps',
        value: shown(name),
        fix: 'Use lower case letters, digits and dashes, at most 50, and begin with a letter',
      })
    checkObjectKeys(app, field, ['title', 'fetch'])
    const { title, fetch } = app
    if (typeof title !== 'string' || title.trim() === '' || title.length > TITLE_CHARS)
      throw new JobmillError('OPTION_INVALID', 'is not a text, is empty or is too long', {
        field: `${field}.title`,
        value: shown(title),
        fix: `Give what people call it, in at most ${TITLE_CHARS} characters`,
      })
    if (typeof fetch !== 'function')
      throw new JobmillError('HANDLER_INVALID', 'is not a function', {
        field: `${field}.fetch`,
        value: shown(fetch),
        fix: 'Give a function from a request, and who asks, to an answer',
      })
  }
  return apps
}

const PREFIX = /^\/api\/apps\/([^/]+)/

/** Which application an address is of, as it is written there, and the path behind that. */
export function appAddress(url: string): { readonly name: string; readonly path: string } {
  const { pathname } = new URL(url)
  const [prefix = '', name = ''] = PREFIX.exec(pathname) ?? []
  return { name, path: pathname.slice(prefix.length) || '/' }
}

export function atPath(request: Request, path: string): Request {
  const url = new URL(request.url)
  url.pathname = path
  return new Request(url, request)
}

/** By what it has and not by its class: a server that we are mounted into may have put a class of its own in the place of the platform's. */
export function isAnswer(given: unknown): given is Response {
  return typeof given === 'object' && given !== null && 'status' in given && 'headers' in given
}

/** Ours to add headers to: an answer that was fetched elsewhere cannot be changed. */
export function ownAnswer(response: Response): Response {
  return new Response(response.body, response)
}

/** JavaScript throws any value, and neither Hono nor a logger expects one that is no error. */
export function asError(thrown: unknown, thrower: string): Error {
  if (thrown instanceof Error) return thrown
  const fix = isAnswer(thrown) ? 'Return the Response' : 'Throw an Error'
  return new Error(`${thrower}: threw a value that is no Error (got ${shown(thrown)}). ${fix}.`)
}
