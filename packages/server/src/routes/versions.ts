/** Routes for the versions of the application that processes declared. */
import { z } from '@hono/zod-openapi'
import type { VersionRecord } from 'jobmill/store'
import { ok, route, type Routes } from '../app.ts'
import { instant } from '../shapes/job.ts'

const versionShape = z
  .object({
    version: z.string(),
    firstAt: instant,
    lastAt: instant,
    instances: z.int().openapi({ description: 'processes that ran it' }),
    alive: z.int().openapi({ description: 'processes that run it now' }),
  })
  .openapi('Version') satisfies z.ZodType<VersionRecord>

export const list = route('viewer', 'versions.list', 'get /versions', {
  summary: 'List the versions of your application that ran in the last 90 days, latest first, at most 100',
  responses: ok(z.object({ versions: z.array(versionShape) }), 'The versions'),
})

export const routes: Routes = (api, { mill }) => {
  api.openapi(list, async (c) => c.json({ versions: await mill.versions() }, 200))
}
