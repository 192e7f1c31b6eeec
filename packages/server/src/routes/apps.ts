/** Routes of mounted applications: their list, and the requests that are passed to them. */
import { z } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import { note, ok, route, type Routes } from '../app.ts'
import { appAddress, asError, atPath, type HttpApp, isAnswer, ownAnswer } from '../apps.ts'
import { takesBody } from '../access/body.ts'
import { allow } from '../access/access-control.ts'
import type { Who } from 'jobmill/internal'
import { isRead } from '../access/reads.ts'
import type { Env } from '../env.ts'

const appShape = z
  .object({
    name: z.string().openapi({ description: 'name in its URLs' }),
    title: z.string().openapi({ description: 'title in the menu' }),
  })
  .openapi('App')

export const list = route('viewer', 'apps.list', 'get /apps', {
  summary: 'List mounted applications (served at /api/apps/NAME/…)',
  responses: ok(z.object({ apps: z.array(appShape) }), 'The applications'),
})

/** The maximum length of a target in the audit log. */
const MOST_CHARS = 200

const [forReads, forChanges] = [allow('viewer'), allow('operator')]

/** The API does not know the routes of an application, so the method decides which role is required. */
const byMethod: MiddlewareHandler<Env> = (c, next) => (isRead(c.req.method) ? forReads : forChanges)(c, next)

export const routes: Routes = (api, { settings: { apps = {} } }) => {
  const known = new Map<string, HttpApp>(Object.entries(apps))
  api.openapi(list, (c) => c.json({ apps: [...known].map(([name, { title }]) => ({ name, title })) }, 200))
  if (known.size === 0) return
  const appOf = (request: Request): HttpApp | undefined => known.get(appAddress(request.url).name)
  const isKnown: MiddlewareHandler<Env> = async (c, next) =>
    appOf(c.req.raw) === undefined ? c.notFound() : next()
  api.all('/apps/:app/*', isKnown, byMethod, takesBody, async (c) => {
    const { name, path } = appAddress(c.req.raw.url)
    const [app, who] = [appOf(c.req.raw), c.get('who')]
    if (app === undefined || who === null) return c.notFound()
    const request = atPath(c.req.raw, path, c.get('hasBody') ? await c.req.text() : null)
    const response = await fetchFrom(app, name, request, who)
    if (!isAnswer(response))
      throw new Error(`the application ${name} did not return a Response. Return one, or throw an Error`)
    c.set('what', `apps.${name}`)
    if (!isRead(c.req.method)) note(c, { target: `${c.req.method} ${path}`.slice(0, MOST_CHARS) })
    return ownAnswer(response)
  })
}

async function fetchFrom(app: HttpApp, name: string, request: Request, who: Who): Promise<Response> {
  try {
    return await app.fetch(request, who)
  } catch (thrown) {
    throw asError(thrown, `apps.${name}.fetch`)
  }
}
