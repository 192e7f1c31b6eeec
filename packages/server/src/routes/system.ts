/** Routes for worker processes, duties, the database, resources, diagnostics and job kinds. */
import { z } from '@hono/zod-openapi'
import type { DatabaseHealth, Who } from 'jobmill/internal'
import { byCaller, note, ok, route, type Routes, seesAll } from '../app.ts'
import { instanceShape } from '../shapes/queue.ts'
import {
  diagnosticShape,
  dutyOf,
  dutyShape,
  listedKindShape,
  resourcesShape,
  runsShape,
  systemShape,
} from '../shapes/system.ts'

const slotShape = z.object({ instance: z.uuid(), queue: z.string(), workers: z.int() }).openapi('Slot')

export const workers = route(
  'viewer',
  'workers.list',
  'get /workers',
  {
    summary: 'List worker processes (instances), their share of workers, and the duties',
    responses: ok(
      z.object({
        here: z.uuid().openapi({ description: 'id of the instance that serves the request' }),
        instances: z.array(instanceShape),
        slots: z.array(slotShape),
        duties: z.array(dutyShape),
      }),
      'The workers',
    ),
  },
  { isCompressed: true },
)

const onOne = {
  request: { params: z.object({ id: z.string() }) },
  responses: ok(instanceShape, 'The process'),
}

export const quiet = route('operator', 'workers.quiet', 'post /workers/{id}/quiet', {
  summary: 'Make a process quiet: it claims no more jobs, and its running jobs continue',
  ...onOne,
})

export const resume = route('operator', 'workers.resume', 'post /workers/{id}/resume', {
  summary: 'Let a quiet process claim jobs again',
  ...onOne,
})

export const stop = route('operator', 'workers.stop', 'post /workers/{id}/stop', {
  summary: 'Stop a process like SIGTERM: its running jobs get the grace period',
  ...onOne,
})

export const recentRuns = route(
  'viewer',
  'workers.runs',
  'get /workers/runs',
  {
    summary: 'List which attempts ran on which instance in the last 15 minutes: the newest 2,000',
    responses: ok(runsShape, 'The attempts, by their start'),
  },
  { isCompressed: true },
)

export const runDuty = route('admin', 'duties.run', 'post /duties/{name}/run', {
  summary: 'Run a duty once, in the process that serves the request',
  request: { params: z.object({ name: z.string() }) },
  responses: ok(z.object({ counts: z.record(z.string(), z.number()) }), 'What the duty did'),
})

export const system = route('viewer', 'system.read', 'get /system', {
  summary: 'Get the state of the database, its migrations and timings, and the duties',
  responses: ok(systemShape, 'The system'),
})

export const resources = route('viewer', 'resources.read', 'get /resources', {
  summary: 'Get the size, free space and connections of the database, and the resources of this process',
  responses: ok(resourcesShape, 'The resources; the database is read at most every 5 s'),
})

export const diagnostics = route('viewer', 'diagnostics.list', 'get /diagnostics', {
  summary: 'List problems that need attention, with fixes, most severe first',
  responses: ok(z.object({ diagnostics: z.array(diagnosticShape) }), 'The diagnostics'),
})

export const kinds = route(
  'viewer',
  'kinds.list',
  'get /kinds',
  {
    summary: 'List kinds, their instances, and their payload schemas',
    responses: ok(z.object({ kinds: z.array(listedKindShape) }), 'The kinds'),
  },
  { isCompressed: true },
)

export const routes: Routes = (api, { mill, ...tools }) => {
  api.openapi(workers, async (c) => {
    const [instances, slots, duties] = await Promise.all([mill.instances(), mill.slots(), mill.duties()])
    const here = mill.instance.id
    return c.json({ here, instances, slots: [...slots], duties: duties.map(dutyOf) }, 200)
  })
  for (const [declared, verb] of [
    [quiet, 'quietInstance'],
    [resume, 'resumeInstance'],
    [stop, 'stopInstance'],
  ] as const)
    api.openapi(declared, async (c) => {
      const { id } = c.req.valid('param')
      const was = (await mill.instances()).find((one) => one.id === id)
      const after = await mill[verb](id, byCaller(c))
      note(c, {
        target: after.label ?? id,
        before: { requested: was?.requested ?? null },
        after: { instance: id, requested: after.requested },
      })
      return c.json(after, 200)
    })
  api.openapi(recentRuns, async (c) => {
    const { runs, ...rest } = await tools.recentRuns()
    return c.json({ ...rest, runs: [...runs] }, 200)
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
  api.openapi(diagnostics, async (c) => c.json({ diagnostics: (await tools.health()).diagnostics }, 200))
  api.openapi(kinds, async (c) => {
    const [all, health] = await Promise.all([mill.kinds(), tools.health()])
    const byKind = new Map(health.kinds.map(({ kind, ...recent }) => [kind, recent]))
    return c.json({ kinds: all.map((one) => ({ ...one, recent: byKind.get(one.kind) ?? null })) }, 200)
  })
}

/** Hides statements of other sessions from viewers, because they may contain anything. */
function seen(who: Who | null, database: DatabaseHealth): DatabaseHealth {
  if (seesAll(who)) return database
  return { ...database, pinned: database.pinned.map((session) => ({ ...session, query: null })) }
}
