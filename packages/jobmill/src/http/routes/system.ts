/** What everything runs on, what needs somebody, and which kinds there are. */
import { z } from '@hono/zod-openapi'
import type { DatabaseHealth } from '../../store/admin.ts'
import { json, route, type Routes } from '../app.ts'
import { mayDo, type Who } from '../access/roles.ts'
import { dutyOf } from '../shapes/duty.ts'
import { diagnosticShape, kindShape, resourcesShape, systemShape } from '../shapes/system.ts'

const system = route('viewer', 'system.read', {
  method: 'get',
  path: '/system',
  summary: 'The database, its migrations and how long it takes, and the duties',
  responses: { 200: json(systemShape, 'The system') },
})

const resources = route('viewer', 'resources.read', {
  method: 'get',
  path: '/resources',
  summary: 'How much room the database takes and has, its connections, and what this process uses',
  responses: { 200: json(resourcesShape, 'The resources; the database is read at most every 5 s') },
})

const diagnostics = route('viewer', 'diagnostics.list', {
  method: 'get',
  path: '/diagnostics',
  summary: 'What needs somebody, and what to do about it, the worst first',
  responses: { 200: json(z.object({ diagnostics: z.array(diagnosticShape) }), 'The diagnostics') },
})

const kinds = route('viewer', 'kinds.list', {
  method: 'get',
  path: '/kinds',
  summary: 'Every kind, who runs it, and what its payloads look like',
  responses: { 200: json(z.object({ kinds: z.array(kindShape) }), 'The kinds') },
})

export const systemRoutes: Routes = (api, { mill, ...tools }) => {
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

/** Statements of others may hold anything. */
function seen(who: Who | null, database: DatabaseHealth): DatabaseHealth {
  if (who !== null && mayDo(who, 'operator')) return database
  return { ...database, pinned: database.pinned.map((session) => ({ ...session, query: null })) }
}
