/** Routes for errors, grouped by fingerprint. */
import { z } from '@hono/zod-openapi'
import { json, route, type Routes } from '../app.ts'
import { errorsShape } from '../shapes/error.ts'

const list = route('viewer', 'errors.list', {
  method: 'get',
  path: '/errors',
  summary: 'List errors of dead and failing jobs, grouped by similarity',
  request: { query: z.strictObject({ queue: z.string().optional(), kind: z.string().optional() }) },
  responses: { 200: json(errorsShape, 'The errors') },
})

export type ErrorRoute = typeof list

export const errorRoutes: Routes = (api, { errors }) => {
  api.openapi(list, async (c) => {
    const { queue, kind } = c.req.valid('query')
    return c.json(
      await errors({ ...(queue !== undefined && { queue }), ...(kind !== undefined && { kind }) }),
      200,
    )
  })
}
