/** Routes that list and change limits. */
import { z } from '@hono/zod-openapi'
import { JobmillError, type LimitOptions } from 'jobmill'
import type { LimitChange } from 'jobmill/internal'
import { type LimitRecord, quote } from 'jobmill/store'
import { body, byCaller, json, note, ok, optionalBody, route, type Routes } from '../app.ts'
import { duration } from '../shapes/enqueue.ts'
import { limitShape } from '../shapes/queue.ts'

const byName = z.object({ name: z.string() })
const settings = {
  rate: z.int().optional(),
  per: duration.optional(),
  burst: z.int().optional(),
  perKey: z.boolean().optional(),
  concurrency: z.int().optional(),
}

/** A limit with the queues that use it. */
const listedShape = limitShape.extend({ queues: z.array(z.string()) }).openapi('ListedLimit')

export const list = route(
  'viewer',
  'limits.list',
  'get /limits',
  {
    summary: 'List limits with their availability and the queues that use them',
    responses: ok(z.object({ limits: z.array(listedShape) }), 'The limits'),
  },
  { isCompressed: true },
)

export const create = route('admin', 'limits.create', 'post /limits', {
  summary: 'Create a rate or concurrency limit',
  request: body(z.strictObject({ name: z.string(), ...settings }).openapi('NewLimit'), 'The limit'),
  responses: { 201: json(limitShape, 'The limit') },
})

export const change = route('admin', 'limits.change', 'patch /limits/{name}', {
  summary: 'Override settings of a limit; omitted settings are unchanged',
  request: { params: byName, ...body(z.strictObject(settings).openapi('LimitChange'), 'The change') },
  responses: ok(limitShape, 'The limit'),
})

export const drain = route('operator', 'limits.drain', 'post /limits/{name}/drain', {
  summary: 'Drain a limit: discard its budget, and grant nothing for the given duration',
  request: {
    params: byName,
    ...optionalBody(
      z.strictObject({ retryAfter: duration.optional(), key: z.string().optional() }).openapi('Drain'),
      'The duration, and the key for a limit per key',
    ),
  },
  responses: ok(limitShape, 'The limit'),
})

export const remove = route('admin', 'limits.delete', 'delete /limits/{name}', {
  summary: 'Delete a limit that no queue uses',
  request: { params: byName },
  responses: { 204: { description: 'Deleted' } },
})

export const routes: Routes = (api, { mill }) => {
  const before = async (name: string): Promise<LimitRecord | undefined> =>
    (await mill.limits.list()).find((limit) => limit.name === name)

  api.openapi(list, async (c) => {
    const [limits, queues] = await Promise.all([mill.limits.list(), mill.queues()])
    const queuesUsing = (limit: string): string[] =>
      queues.filter((queue) => queue.limit === limit).map(({ name }) => name)
    return c.json({ limits: limits.map((limit) => ({ ...limit, queues: queuesUsing(limit.name) })) }, 200)
  })
  api.openapi(create, async (c) => {
    const { name, ...options } = c.req.valid('json')
    const after = await mill.limits.create(name, options as LimitOptions, byCaller(c))
    note(c, { target: name, after: after.settings })
    return c.json(after, 201)
  })
  api.openapi(change, async (c) => {
    const { name } = c.req.valid('param')
    const was = await before(name)
    const after = await mill.limits.change(name, c.req.valid('json') as LimitChange, byCaller(c))
    note(c, { target: name, before: was?.settings, after: after.settings })
    return c.json(after, 200)
  })
  api.openapi(drain, async (c) => {
    const { name } = c.req.valid('param')
    const { retryAfter, key } = c.req.valid('json')
    const was = await before(name)
    const after = await mill.limits.drain(name, { ...(retryAfter !== undefined && { retryAfter }), key })
    const { drainedMs } = after
    // The earlier drain of a single key is unknown.
    if (key !== undefined) note(c, { target: name, after: { key, drainedMs } })
    else note(c, { target: name, before: { drainedMs: was?.drainedMs }, after: { drainedMs } })
    return c.json(after, 200)
  })
  api.openapi(remove, async (c) => {
    const { name } = c.req.valid('param')
    const was = await before(name)
    if (!(await mill.limits.delete(name)))
      throw new JobmillError('LIMIT_UNKNOWN', 'no limit has this name', {
        field: 'name',
        value: quote(name),
        fix: 'Use a name from GET /api/limits',
      })
    note(c, { target: name, before: was?.settings })
    return c.body(null, 204)
  })
}
