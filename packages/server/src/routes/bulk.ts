/**
 * Bulk actions on all jobs that match a filter. A built-in job runs each one, reports its progress, and can
 * be cancelled.
 */
import { z } from '@hono/zod-openapi'
import {
  BULK_ACTS,
  BULK_KIND,
  BULK_QUEUE,
  type BulkPayload,
  isAboutActs,
  mayDo,
  statesOf as checkAct,
} from 'jobmill/internal'
import { body, json, note, route, type Routes } from '../app.ts'
import { problem } from '../problem.ts'
import { bulkFilterOf, bulkQuery, filterOfBody, filterShape } from '../shapes/filter.ts'
import { listedStateShape } from '../shapes/job.ts'

const actShape = z.enum(BULK_ACTS)

const preview = route('operator', 'bulk.preview', 'get /bulk', {
  summary: 'Preview how many jobs a bulk action would change',
  request: { query: z.strictObject({ act: actShape, ...bulkQuery }) },
  responses: {
    200: json(
      z
        .object({ jobs: z.int(), byState: z.partialRecord(listedStateShape, z.int()).readonly() })
        .openapi('BulkPreview'),
      'The number of jobs that would change',
    ),
  },
})

const run = route('operator', 'bulk.run', 'post /bulk', {
  summary:
    'Run a bulk action on all jobs that match a filter; delete, and any change to bulk actions, requires admin',
  request: body(
    z
      .strictObject({ act: actShape, filter: filterShape, reason: z.string().min(1).max(1_000).optional() })
      .openapi('BulkAct'),
    'The action and the filter',
  ),
  responses: {
    202: json(
      z.object({ id: z.uuid() }).openapi('BulkBegun'),
      'The job that runs it: inspect it for progress, cancel it to stop',
    ),
  },
})

export type BulkRoute = typeof preview | typeof run

export const bulkRoutes: Routes = (api, { mill }) => {
  api.openapi(preview, async (c) => {
    const { act, ...query } = c.req.valid('query')
    return c.json(await mill.bulk.preview(act, bulkFilterOf(query), { signal: c.req.raw.signal }), 200)
  })

  api.openapi(run, async (c) => {
    const { act, filter: given, reason } = c.req.valid('json')
    const filter = filterOfBody(given)
    const who = c.get('who')
    // Retrying a bulk action runs it again, and it may delete jobs.
    if ((act === 'delete' || isAboutActs(filter)) && (who === null || !mayDo(who, 'admin')))
      return problem(
        'FORBIDDEN',
        act === 'delete'
          ? { detail: 'delete requires the role admin', field: 'act' }
          : { detail: 'changing bulk actions requires the role admin', field: 'filter' },
      ) as never
    const instances = await mill.instances()
    if (!instances.some(({ state, kinds }) => state === 'alive' && kinds.includes(BULK_KIND)))
      return problem('BULK_UNSERVED', {
        fix: `Run jobmill start or jobmill work, or add bulkJob(() => mill) to the jobs of a mill that serves the queue ${BULK_QUEUE}`,
      }) as never
    checkAct(act, filter)
    const payload: BulkPayload = {
      act,
      filter: await mill.bulk.upToNow(filter),
      ...(reason !== undefined && { reason }),
    }
    const { id } = await mill.enqueue(BULK_KIND, payload, {
      queue: BULK_QUEUE,
      tags: [`by:${who?.name ?? ''}`],
    })
    note(c, { target: id, job: id, after: { act, filter } })
    return c.json({ id }, 202)
  })
}
