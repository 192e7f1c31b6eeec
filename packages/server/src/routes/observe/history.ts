/** Metrics over time, the timeline, the audit log, and the versions of the application. */
import { z } from '@hono/zod-openapi'
import {
  AUDIT,
  type AuditQuery,
  KEPT_TYPES,
  type MetricsQuery,
  omitUndefined,
  type TimelineRequest,
} from 'jobmill/internal'
import type { VersionRecord } from 'jobmill/store'
import { ok, route, type Routes, seesAll } from '../../app.ts'
import { problem } from '../../problem.ts'
import { instant } from '../../shapes/instant.ts'
import { instant as milliseconds } from '../../shapes/job.ts'
import { seriesShape } from '../../shapes/series.ts'

const several = z.union([z.string(), z.array(z.string())]).optional()

/** A parameter that may be repeated, as a list. */
function listed(given: string | string[] | undefined): string[] | undefined {
  return given === undefined ? undefined : [given].flat()
}

const page = {
  queue: z.string().optional(),
  job: z.string().optional(),
  from: instant,
  to: instant,
  limit: z.coerce.number().int().min(1).max(500).default(50),
  cursor: z.string().optional(),
}

export const series = route(
  'viewer',
  'series.read',
  'get /series',
  {
    summary: 'Read metrics of queues, limits, instances and kinds over time',
    request: {
      query: z.strictObject({
        queue: several,
        instance: several,
        limit: several,
        kind: several,
        from: instant,
        to: instant,
        resolution: z.string().optional().openapi({ example: '1m' }),
      }),
    },
    responses: ok(seriesShape, 'The metrics (default: the last hour)'),
  },
  { isCompressed: true },
)

const timelineEntryShape = z
  .object({
    n: z.int(),
    at: z.number(),
    type: z.string(),
    instance: z.string(),
    queue: z.string().nullable(),
    job: z.string().nullable(),
    data: z.record(z.string(), z.unknown()).readonly(),
  })
  .openapi('TimelineEntry')

export const timeline = route('viewer', 'timeline.read', 'get /timeline', {
  summary: 'Read the timeline of operational events, latest first',
  request: { query: z.strictObject({ type: several, ...page }) },
  responses: ok(
    z.object({ events: z.array(timelineEntryShape).readonly(), next: z.string().nullable() }),
    'A page of entries',
  ),
})

const auditEntryShape = z
  .object({
    at: z.number(),
    who: z.string(),
    role: z.string(),
    what: z.string().openapi({ example: 'jobs.retry' }),
    target: z.string(),
    queue: z.string().nullable(),
    job: z.string().nullable(),
    before: z.unknown(),
    after: z.unknown(),
  })
  .openapi('AuditEntry')

export const audit = route('operator', 'audit.read', 'get /audit', {
  summary: 'Read the audit log of manual changes, latest first',
  request: { query: z.strictObject(page) },
  responses: ok(
    z.object({ entries: z.array(auditEntryShape).readonly(), next: z.string().nullable() }),
    'A page of entries',
  ),
})

const versionShape = z
  .object({
    version: z.string(),
    firstAt: milliseconds,
    lastAt: milliseconds,
    instances: z.int().openapi({ description: 'number of processes that ran this version' }),
    alive: z.int().openapi({ description: 'number of processes that run this version now' }),
  })
  .openapi('Version') satisfies z.ZodType<VersionRecord>

export const versions = route('viewer', 'versions.list', 'get /versions', {
  summary: 'List the versions of your application that ran in the last 90 days, latest first, at most 100',
  responses: ok(z.object({ versions: z.array(versionShape) }), 'The versions'),
})

export const routes: Routes = (api, { mill, redactFor }) => {
  api.openapi(series, async (c) => {
    const { queue, instance, limit, kind, ...rest } = c.req.valid('query')
    const [queues, instances, limits, kinds] = [queue, instance, limit, kind].map(listed)
    const query = omitUndefined({ ...rest, queues, instances, limits, kinds })
    return c.json(await mill.metrics(query as MetricsQuery), 200)
  })
  api.openapi(timeline, async (c) => {
    const { type, ...rest } = c.req.valid('query')
    const who = c.get('who')
    const types = listed(type)
    // Audit entries are for operators only.
    if (!seesAll(who) && types?.includes(AUDIT) === true)
      return problem('FORBIDDEN', {
        detail: 'the audit log requires the operator role',
        field: 'type',
      }) as never
    const seen = seesAll(who) ? types : (types ?? KEPT_TYPES.filter((one) => one !== AUDIT))
    const query = omitUndefined({ ...rest, types: seen })
    return c.json(redactFor(who, await mill.timeline(query as TimelineRequest)), 200)
  })
  api.openapi(audit, async (c) =>
    c.json(await mill.audit.list(omitUndefined(c.req.valid('query')) as AuditQuery), 200),
  )
  api.openapi(versions, async (c) => c.json({ versions: await mill.versions() }, 200))
}
