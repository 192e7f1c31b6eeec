/** Routes for instances, the distribution of workers, and duties. */
import { z } from '@hono/zod-openapi'
import { json, note, route, type Routes } from '../app.ts'
import { dutyOf, dutyShape } from '../shapes/duty.ts'
import { instanceShape } from '../shapes/queue.ts'

const slotShape = z.object({ instance: z.uuid(), queue: z.string(), workers: z.int() }).openapi('Slot')

const list = route('viewer', 'workers.list', 'get /workers', {
  summary: 'List worker processes (instances), their share of workers, and the duties',
  responses: {
    200: json(
      z.object({
        here: z.uuid().openapi({ description: 'id of the answering instance' }),
        instances: z.array(instanceShape),
        slots: z.array(slotShape),
        duties: z.array(dutyShape),
      }),
      'The workers',
    ),
  },
})

const runDuty = route('admin', 'duties.run', 'post /duties/{name}/run', {
  summary: 'Run a duty once, in the answering process',
  request: { params: z.object({ name: z.string() }) },
  responses: { 200: json(z.object({ counts: z.record(z.string(), z.number()) }), 'What the duty did') },
})

export type WorkerRoute = typeof list | typeof runDuty

export const workerRoutes: Routes = (api, { mill }) => {
  api.openapi(list, async (c) => {
    const [instances, slots, duties] = await Promise.all([mill.instances(), mill.slots(), mill.duties()])
    const here = mill.instance.id
    return c.json({ here, instances, slots: [...slots], duties: duties.map(dutyOf) }, 200)
  })
  api.openapi(runDuty, async (c) => {
    const { name } = c.req.valid('param')
    const counts = { ...(await mill.runDuty(name)) }
    note(c, { target: name, after: counts })
    return c.json({ counts }, 200)
  })
}
