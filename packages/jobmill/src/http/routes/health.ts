/** For whoever runs the process: whether it lives, whether it can work, and its figures. */
import { z } from '@hono/zod-openapi'
import type { Mill } from '../../runtime/mill.ts'
import type { Readiness } from '../../runtime/readiness.ts'
import { type Api, route } from '../app.ts'

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

const metrics = route('viewer', 'metrics.read', {
  method: 'get',
  path: '/metrics',
  summary: 'Figures for Prometheus',
  responses: { 200: { description: 'Text', content: { [CONTENT_TYPE]: { schema: z.string() } } } },
})

/** Without a token: they answer nothing but well or not. */
export function probeRoutes(api: Api, mill: Pick<Mill<never>, 'readiness'>): void {
  api.get('/healthz', (c) => c.json({ alive: true }, 200))
  // Nobody has to say who they are to ask, so however many ask at once, the store is asked once.
  let asking: Promise<Readiness> | null = null
  const readiness = (): Promise<Readiness> =>
    (asking ??= mill.readiness().finally(() => {
      asking = null
    }))
  api.get('/readyz', async (c) => {
    const answer = await readiness()
    return c.json(answer, answer.ready ? 200 : 503)
  })
}

export function metricsRoutes(api: Api, mill: Mill): void {
  api.openapi(
    metrics,
    async (c) => c.body(await mill.prometheus(), 200, { 'content-type': CONTENT_TYPE }) as never,
  )
}
