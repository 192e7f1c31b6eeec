/** Routes that list, save and delete views: named filters of the job list, for everyone. */
import { z } from '@hono/zod-openapi'
import { JobmillError } from 'jobmill'
import type { SavedView } from 'jobmill/internal'
import { quote } from 'jobmill/store'
import { body, byCaller, json, note, ok, route, type Routes } from '../app.ts'
import { instant } from '../shapes/job.ts'

const name = z.string().openapi({ description: 'any text on one line, at most 60 characters' })
const search = z.string().openapi({
  description: 'the query string of the Jobs page, such as state=dead&queue=mail',
  example: 'queue=mail&state=dead',
})

const viewShape = z
  .object({ name, search, by: z.string().openapi({ description: 'who saved it' }), createdAt: instant })
  .openapi('SavedView') satisfies z.ZodType<SavedView>

export const list = route('viewer', 'views.list', 'get /views', {
  summary: 'List the saved views of the job list',
  responses: ok(z.object({ views: z.array(viewShape) }), 'The views'),
})

export const add = route('operator', 'views.add', 'post /views', {
  summary: 'Save a filter of the job list under a name, for all users',
  request: body(z.strictObject({ name, search }).openapi('NewView'), 'The view'),
  responses: { 201: json(viewShape, 'The view') },
})

export const remove = route('operator', 'views.delete', 'delete /views/{name}', {
  summary: 'Delete a saved view',
  request: { params: z.object({ name: z.string() }) },
  responses: { 204: { description: 'Deleted' } },
})

export const routes: Routes = (api, { mill: { views }, redactFor }) => {
  // A filter may contain what its author searched payloads for.
  api.openapi(list, async (c) => c.json(redactFor(c.get('who'), { views: await views.list() }), 200))
  api.openapi(add, async (c) => {
    const view = await views.add(c.req.valid('json'), byCaller(c))
    note(c, { target: view.name, after: { search: view.search } })
    return c.json(view, 201)
  })
  api.openapi(remove, async (c) => {
    const { name } = c.req.valid('param')
    const before = (await views.list()).find((one) => one.name === name)
    if (before === undefined || !(await views.delete(name)))
      throw new JobmillError('VIEW_UNKNOWN', 'no saved view has this name', {
        field: 'name',
        value: quote(name),
        fix: 'Use a name from GET /api/views',
      })
    note(c, { target: name, before: { search: before.search, by: before.by } })
    return c.body(null, 204)
  })
}
