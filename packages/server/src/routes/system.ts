/** Routes for worker processes, duties, the database, resources, diagnostics and job kinds. */
import { z } from '@hono/zod-openapi'
import { type DatabaseHealth, mayDo, type Who } from 'jobmill/internal'
import { json, note, route, type Routes } from '../app.ts'
import { dutyOf, dutyShape } from '../shapes/duty.ts'
import { instanceShape } from '../shapes/queue.ts'
import { diagnosticShape, kindShape, resourcesShape, systemShape } from '../shapes/system.ts'

const slotShape = z.object({ instance: z.uuid(), queue: z.string(), workers: z.int() }).openapi('Slot')

const workers = route('viewer', 'workers.list', 'get /workers', {
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

const system = route('viewer', 'system.read', 'get /system', {
  summary: 'Get the state of the database, its migrations and timings, and the duties',
  responses: { 200: json(systemShape, 'The system') },
})

const resources = route('viewer', 'resources.read', 'get /resources', {
  summary: 'Get the size, free space and connections of the database, and the resources of this process',
  responses: { 200: json(resourcesShape, 'The resources; the database is read at most every 5 s') },
})

const diagnostics = route('viewer', 'diagnostics.list', 'get /diagnostics', {
  summary: 'List problems that need attention, with fixes, most severe first',
  responses: { 200: json(z.object({ diagnostics: z.array(diagnosticShape) }), 'The diagnostics') },
})

const kinds = route('viewer', 'kinds.list', 'get /kinds', {
  summary: 'List kinds, their instances, and their payload schemas',
  responses: { 200: json(z.object({ kinds: z.array(kindShape) }), 'The kinds') },
})

export type SystemRoute =
  | typeof workers
  | typeof runDuty
  | typeof system
  | typeof resources
  | typeof diagnostics
  | typeof kinds

export const systemRoutes: Routes = (api, { mill, ...tools }) => {
  api.openapi(workers, async (c) => {
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
  api.openapi(system, async (c) => {
    const { database, duties, ...rest } = await tools.system()
    return c.json(
      {
        ...rest,
        database: database === null ? null : seen(c.get('who'), database),
        duties: duties.map((duty) => ({ ...dutyOf(duty), everyMs: duty.everyMs })),
      },
      200,
    )
  })
  api.openapi(resources, async (c) => c.json(await mill.resources(), 200))
  api.openapi(diagnostics, async (c) => c.json({ diagnostics: await tools.diagnostics() }, 200))
  api.openapi(kinds, async (c) => c.json({ kinds: await mill.kinds() }, 200))
}

/** Hides statements of other sessions from viewers, because they may contain anything. */
function seen(who: Who | null, database: DatabaseHealth): DatabaseHealth {
  if (who !== null && mayDo(who, 'operator')) return database
  return { ...database, pinned: database.pinned.map((session) => ({ ...session, query: null })) }
}
