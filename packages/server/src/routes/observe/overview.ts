/** The overview: the state of the whole system, in a few reads. */
import { z } from '@hono/zod-openapi'
import { ok, route, type Routes } from '../../app.ts'
import { type NeedsAttention, ROLES, VERSION, type Who } from 'jobmill/internal'
import { instanceShape, limitShape, unservedKindShape } from '../../shapes/queue.ts'
import { dutyOf, dutyShape } from '../../shapes/system.ts'
import { queuesOf, queuesShape } from '../queues.ts'

export const overview = route(
  'viewer',
  'overview.read',
  'get /overview',
  {
    summary: 'Get an overview: queues, instances, limits, duties, kinds without a worker, and drift',
    responses: ok(
      z
        .object({
          store: z.string(),
          version: z.string(),
          here: z.uuid(),
          you: z.object({ name: z.string(), role: z.enum(ROLES) }),
          queues: queuesShape,
          unservedKinds: z.array(unservedKindShape),
          instances: z.array(instanceShape),
          limits: z.array(limitShape),
          duties: z.array(dutyShape),
          drift: z.array(
            z.object({
              what: z.enum(['queue', 'limit', 'schedule']),
              name: z.string(),
              field: z.string(),
              code: z.unknown(),
              stored: z.unknown(),
              isInCode: z.boolean(),
              override: z.object({ by: z.string().nullable(), at: z.number() }).nullable(),
              higherVersion: z.number().nullable(),
            }),
          ),
          degraded: z.array(z.string()).readonly(),
          problems: z
            .object({ error: z.int(), warning: z.int(), notice: z.int() })
            .openapi({ description: 'number of diagnostics by level' }),
        })
        .openapi('Overview'),
      'The overview',
    ),
  },
  { isCompressed: true },
)

export const routes: Routes = (api, { mill, ...tools }) => {
  api.openapi(overview, async (c) => {
    const read = mill.instances()
    const [queues, unservedKinds, instances, limits, duties, drift, { degraded }, { diagnostics }] =
      await Promise.all([
        queuesOf({ mill, health: tools.health }, read),
        tools.unservedKinds(),
        read,
        mill.limits.list(),
        mill.duties(),
        mill.drift(),
        mill.readiness(),
        tools.health(),
      ])
    const who = c.get('who')
    // The values of schedules may be payloads.
    c.set('hasSecrets', drift.length > 0)
    // Never the default: the route requires a role, so it refuses anonymous callers.
    const you: Who = who ?? { name: '', role: 'viewer' }
    return c.json(
      {
        store: mill.storeName,
        version: VERSION,
        here: mill.instance.id,
        you: { ...you },
        queues,
        unservedKinds,
        instances,
        limits,
        duties: duties.map(dutyOf),
        drift: tools.redactFor(who, drift),
        degraded,
        problems: countOf(diagnostics),
      },
      200,
    )
  })
}

function countOf(diagnostics: readonly NeedsAttention[]): Record<NeedsAttention['level'], number> {
  const counts = { error: 0, warning: 0, notice: 0 }
  for (const { level } of diagnostics) counts[level] += 1
  return counts
}
