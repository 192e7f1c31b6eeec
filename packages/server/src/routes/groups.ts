/** Routes that list and change the groups of a queue. */
import { z } from '@hono/zod-openapi'
import type { GroupChange } from 'jobmill/internal'
import type { GroupRecord } from 'jobmill/store'
import { body, byCaller, note, ok, route, type Routes } from '../app.ts'
import { duration, optional } from '../shapes/enqueue.ts'

const ms = z.number()
const count = z.int()
const settings = {
  weight: z.number().nullable(),
  concurrency: count.nullable(),
  rate: count.nullable(),
  ratePerMs: ms.nullable(),
  paused: z.boolean(),
}

const groupShape = z
  .object({
    name: z.string(),
    ...settings,
    weight: z.number(),
    waiting: count,
    running: count,
    oldestMs: ms.nullable(),
    nextTokenMs: ms.nullable(),
    overrides: z.object({ ...settings, by: z.string().nullable(), at: ms }).nullable(),
  })
  .openapi('Group') satisfies z.ZodType<GroupRecord>

const changeShape = z
  .strictObject({
    weight: optional(z.number().nullable(), 'share compared with other groups; null resets it'),
    concurrency: optional(
      count.nullable(),
      'at most so many running jobs; null for the setting of the queue',
    ),
    rate: optional(
      count.nullable(),
      'at most so many started jobs per period; null for the setting of the queue',
    ),
    per: optional(duration, 'period of the rate: milliseconds, or "1m"'),
    paused: optional(z.boolean(), 'true starts no more jobs of the group'),
  })
  .openapi('GroupChange')

const byName = z.object({ name: z.string() })
const byGroup = z.object({ name: z.string(), group: z.string() })

export const list = route(
  'viewer',
  'groups.list',
  'get /queues/{name}/groups',
  {
    summary: 'List the groups of a queue that have jobs to run or settings of their own',
    request: {
      params: byName,
      query: z.object({
        sort: optional(
          z.enum(['waiting', 'oldest', 'name']),
          'order; the default is most waiting jobs first',
        ),
        limit: optional(z.coerce.number(), 'at most so many groups; 1 to 1,000, by default 100'),
      }),
    },
    responses: ok(z.object({ groups: z.array(groupShape) }), 'The groups'),
  },
  { isCompressed: true },
)

export const change = route('operator', 'groups.change', 'patch /queues/{name}/groups/{group}', {
  summary: 'Change the weight, the limits or the pause of one group; omitted settings are unchanged',
  request: { params: byGroup, ...body(changeShape, 'The change') },
  responses: ok(groupShape, 'The group'),
})

export const routes: Routes = (api, { mill }) => {
  api.openapi(list, async (c) => {
    const { name } = c.req.valid('param')
    const { sort, limit } = c.req.valid('query')
    const groups = await mill.groups.list(name, {
      ...(sort !== undefined && { sort }),
      ...(limit !== undefined && { limit }),
    })
    return c.json({ groups }, 200)
  })
  api.openapi(change, async (c) => {
    const { name, group } = c.req.valid('param')
    const was = await mill.groups.get(name, group)
    const after = await mill.groups.update(name, group, c.req.valid('json') as GroupChange, byCaller(c))
    note(c, { target: group, queue: name, before: was.overrides, after: after.overrides })
    return c.json(after, 200)
  })
}
