/** Liveness and readiness probes, and metrics for Prometheus. */
import { z } from '@hono/zod-openapi'
import type { Mill, Readiness } from 'jobmill'
import { type Api, route } from '../../app.ts'

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

const metrics = route('viewer', 'metrics.read', 'get /metrics', {
  summary: 'Metrics in the Prometheus text format',
  responses: { 200: { description: 'The metrics', content: { [CONTENT_TYPE]: { schema: z.string() } } } },
})

/** Probes need no token, because they reveal only the health of the process. */
export function probeRoutes(api: Api, mill: Pick<Mill<never>, 'readiness'>): void {
  api.get('/healthz', (c) => c.json({ alive: true }, 200))
  // Anonymous callers may ask, so concurrent requests share one query of the store.
  let pending: Promise<Readiness> | null = null
  const readiness = (): Promise<Readiness> =>
    (pending ??= mill.readiness().finally(() => {
      pending = null
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
