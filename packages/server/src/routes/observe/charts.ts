/** The metrics that the charts of Mission Control draw. */
import { z } from '@hono/zod-openapi'
import { type MetricsQuery, omitUndefined } from 'jobmill/internal'
import { ok, route, type Routes } from '../../app.ts'
import { chartsOf, chartsShape } from '../../shapes/charts.ts'
import { instant } from '../../shapes/instant.ts'

export const charts = route(
  'viewer',
  'charts.read',
  'get /charts',
  {
    summary: 'Read queue metrics in columns, for charts; pass a later `from` to read only newer bins',
    request: {
      query: z.strictObject({
        queue: z.string().optional().openapi({ description: 'default: all queues' }),
        from: instant,
        to: instant,
        resolution: z.string().optional().openapi({ example: '5m' }),
      }),
    },
    responses: ok(chartsShape, 'The metrics (default: the last hour)'),
  },
  { isCompressed: true },
)

export const routes: Routes = (api, { mill, queueNames }) => {
  api.openapi(charts, async (c) => {
    const { queue, ...rest } = c.req.valid('query')
    const queues = queue === undefined ? await queueNames() : [queue]
    return c.json(chartsOf(await mill.metrics(omitUndefined({ ...rest, queues }) as MetricsQuery)), 200)
  })
}
