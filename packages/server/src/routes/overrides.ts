/** Routes that list and reset overrides: options that an operator set in place of those in code. */
import { z } from '@hono/zod-openapi'
import { OVERRIDABLE, type OverrideSelection, type OverrideView } from 'jobmill/internal'
import type { Context } from 'hono'
import { note, ok, route, type Routes } from '../app.ts'
import type { Env } from '../env.ts'

const overrideShape = z
  .object({
    what: z.enum(OVERRIDABLE),
    name: z.string(),
    option: z.string(),
    value: z.unknown(),
    code: z.unknown(),
    isInCode: z.boolean(),
    isApplied: z.boolean(),
    by: z.string().nullable(),
    at: z.number(),
  })
  .openapi('Override')

export const list = route('viewer', 'overrides.list', 'get /overrides', {
  summary: 'List overridden options of queues, limits and schedules, with the values in code',
  responses: ok(z.object({ overrides: z.array(overrideShape) }), 'The overrides'),
})

const gone = ok(z.object({ reset: z.array(overrideShape) }), 'The overrides that were reset')
const thing = { what: z.enum(OVERRIDABLE), name: z.string() }

export const resetAll = route(
  'admin',
  'overrides.reset-all',
  'delete /overrides',
  {
    summary: 'Reset all overrides to the values in code',
    responses: gone,
  },
  { instead: byPath },
)

/** The route that resets one thing, for the fix: a request without a name would reset everything. */
function byPath({ what, name, option }: Readonly<Record<string, unknown>>): string {
  if (OVERRIDABLE.every((known) => known !== what) || typeof name !== 'string' || name === '')
    return 'Use DELETE /api/overrides/{what}/{name}, such as /api/overrides/queue/mail. DELETE /api/overrides without parameters resets all overrides'
  const parts = [String(what), name, ...(typeof option === 'string' && option !== '' ? [option] : [])]
  return `Use DELETE /api/overrides/${parts.map(encodeURIComponent).join('/')}`
}

export const resetThing = route('admin', 'overrides.reset', 'delete /overrides/{what}/{name}', {
  summary: 'Reset all overrides of one queue, limit or schedule',
  request: { params: z.object(thing) },
  responses: gone,
})

export const resetOption = route(
  'admin',
  'overrides.reset-option',
  'delete /overrides/{what}/{name}/{option}',
  {
    summary:
      'Reset one option, such as workers or retain.done; backoff or retain resets every option under it',
    request: { params: z.object({ ...thing, option: z.string() }) },
    responses: gone,
  },
)

export const routes: Routes = (api, { mill, redactFor }) => {
  async function reset(c: Context<Env>, selection: OverrideSelection): Promise<{ reset: OverrideView[] }> {
    const dropped = await mill.resetOverrides(selection)
    const { what, name } = selection
    note(c, {
      target: name ?? 'all',
      ...(what === 'queue' && name !== undefined && { queue: name }),
      before: dropped.map(({ what, name, option, value }) => ({ what, name, option, value })),
      after: dropped.map(({ what, name, option, code }) => ({ what, name, option, value: code })),
    })
    return { reset: dropped }
  }

  api.openapi(list, async (c) => c.json({ overrides: redactFor(c.get('who'), await mill.overrides()) }, 200))
  api.openapi(resetAll, async (c) => c.json(await reset(c, {}), 200))
  api.openapi(resetThing, async (c) => c.json(await reset(c, c.req.valid('param')), 200))
  api.openapi(resetOption, async (c) => c.json(await reset(c, c.req.valid('param')), 200))
}
