/** Routes that list and change queues. */
import { z } from '@hono/zod-openapi'
import type { QueueChange } from 'jobmill'
import { queueWord, servedQueues } from 'jobmill/internal'
import type { QueueRecord } from 'jobmill/store'
import { body, byCaller, note, ok, route, type Routes } from '../app.ts'
import { duration } from '../shapes/enqueue.ts'
import { capacityShape, countsShape, queueShape, unservedKindShape } from '../shapes/queue.ts'
import { queueHealthShape } from '../shapes/system.ts'

const byName = z.object({ name: z.string() })
const retention = z.union([
  duration,
  z.strictObject({ for: duration.optional(), most: z.int().nullable().optional() }),
])

const changeShape = z
  .strictObject({
    workers: z.int().nullable().optional(),
    paused: z.boolean().optional(),
    backoff: z
      .strictObject({ enabled: z.boolean().optional(), base: duration.optional(), max: duration.optional() })
      .optional(),
    retain: z
      .strictObject({
        done: retention.optional(),
        cancelled: retention.optional(),
        dead: retention.optional(),
      })
      .optional(),
    limit: z.string().nullable().optional(),
    targetLatency: duration.nullable().optional(),
    groups: z
      .strictObject({
        fair: z.boolean().optional(),
        concurrency: z.int().nullable().optional(),
        rate: z.int().nullable().optional(),
        per: duration.optional(),
      })
      .nullable()
      .optional(),
    coolFor: duration.optional(),
  })
  .openapi('QueueChange')

export const queuesShape = z.array(
  z.object({ settings: queueShape, counts: countsShape, health: queueHealthShape }),
)

export const list = route(
  'viewer',
  'queues.list',
  'get /queues',
  {
    summary: 'List queues with their settings and counts, and kinds without a worker',
    responses: ok(z.object({ queues: queuesShape, unservedKinds: z.array(unservedKindShape) }), 'The queues'),
  },
  { isCompressed: true },
)

export const capacity = route(
  'viewer',
  'queues.capacity',
  'get /capacity',
  {
    summary: 'List the rates, latencies and workers of each queue, and whether its backlog drains or grows',
    responses: ok(
      z.object({ queues: z.array(capacityShape) }),
      'The queues: rates of the last minute, percentiles of the last five minutes',
    ),
  },
  { isCompressed: true },
)

export const change = route('admin', 'queues.change', 'patch /queues/{name}', {
  summary: 'Override settings of a queue; omitted settings are unchanged',
  request: { params: byName, ...body(changeShape, 'The change') },
  responses: ok(queueShape, 'The queue'),
})

const onOne = { request: { params: byName }, responses: ok(queueShape, 'The queue') }

export const pause = route('operator', 'queues.pause', 'post /queues/{name}/pause', {
  summary: 'Pause a queue; running jobs continue',
  ...onOne,
})

export const resume = route('operator', 'queues.resume', 'post /queues/{name}/resume', {
  summary: 'Resume a queue',
  ...onOne,
})

const NOTHING = { scheduled: 0, ready: 0, running: 0, done: 0, dead: 0, cancelled: 0, oldestReadyMs: null }

type Reads = Pick<Parameters<Routes>[1], 'mill' | 'health'>

/** Only the share of failed attempts may be some seconds old, so that many pages cost one read. */
export async function queuesOf(
  { mill, health }: Reads,
  read = mill.instances(),
): Promise<z.infer<typeof queuesShape>> {
  const [queues, counts, instances, { queues: levels }] = await Promise.all([
    mill.queues(),
    mill.counts(),
    read,
    health(),
  ])
  const byQueue = new Map(counts.map((one) => [one.queue, one]))
  const byName = new Map(levels.map((one) => [one.queue, one]))
  const served = servedQueues(instances)
  return queues.map((settings) => {
    const { name } = settings
    const own = byQueue.get(name) ?? { queue: name, ...NOTHING }
    const { level = null, attempts = 0, failed = 0 } = byName.get(name) ?? {}
    const word = queueWord(settings, own, served.has(name), level)
    return { settings, counts: own, health: { word, attempts, failed } }
  })
}

export const routes: Routes = (api, tools) => {
  const { mill, health, unservedKinds: findUnservedKinds, capacity: readCapacity } = tools
  const before = async (name: string): Promise<QueueRecord | undefined> =>
    (await mill.queues()).find((queue) => queue.name === name)

  api.openapi(list, async (c) => {
    const [queues, unservedKinds] = await Promise.all([queuesOf({ mill, health }), findUnservedKinds()])
    return c.json({ queues, unservedKinds }, 200)
  })
  api.openapi(capacity, async (c) => c.json({ queues: await readCapacity() }, 200))
  api.openapi(change, async (c) => {
    const { name } = c.req.valid('param')
    const was = await before(name)
    const after = await mill.changeQueue(name, c.req.valid('json') as QueueChange, byCaller(c))
    note(c, { target: name, queue: name, before: was, after })
    return c.json(after, 200)
  })
  for (const [declared, verb] of [
    [pause, 'pause'],
    [resume, 'resume'],
  ] as const)
    api.openapi(declared, async (c) => {
      const { name } = c.req.valid('param')
      const was = await before(name)
      const after = await mill[verb](name, byCaller(c))
      note(c, { target: name, queue: name, before: { paused: was?.paused }, after: { paused: after.paused } })
      return c.json(after, 200)
    })
}
