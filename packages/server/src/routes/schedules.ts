/** Routes that list and change schedules. */
import { z } from '@hono/zod-openapi'
import { JobmillError, type ScheduleView } from 'jobmill'
import { type NewSchedule, omitUndefined, type ScheduleChange, type Who } from 'jobmill/internal'
import { quote } from 'jobmill/store'
import { body, byCaller, json, note, ok, optionalBody, route, type Routes } from '../app.ts'
import { refuseOwnKind } from '../problem.ts'
import { duration } from '../shapes/enqueue.ts'
import {
  listedScheduleShape,
  newScheduleShape,
  scheduleChangeShape,
  scheduleShape,
  tickOutcomeShape,
  tickShape,
} from '../shapes/schedule.ts'

/** How many ticks the history on the page of a schedule shows. */
const RUNS = 30

const byName = z.object({ name: z.string() })
const one = ok(scheduleShape, 'The schedule')
const onOne = { request: { params: byName }, responses: one }

export const list = route('viewer', 'schedules.list', 'get /schedules', {
  summary: 'List schedules, with the latest runs of each and the states of their jobs',
  responses: ok(z.object({ schedules: z.array(listedScheduleShape) }), 'The schedules'),
})

export const next = route('viewer', 'schedules.next', 'get /next-runs', {
  summary: 'Describe an expression and list its next runs',
  request: {
    query: z.strictObject({
      when: z.string(),
      zone: z.string().default('UTC'),
      count: z.coerce.number().int().min(1).max(100).default(10),
    }),
  },
  responses: ok(
    z.object({ text: z.string(), runs: z.array(z.number()) }),
    'The description and the instants of the next runs',
  ),
})

export const inspect = route('viewer', 'schedules.inspect', 'get /schedules/{name}', {
  summary: 'Get a schedule with its next runs and its history',
  request: { params: byName },
  responses: ok(
    z.object({ schedule: scheduleShape, runs: z.array(z.number()), history: z.array(tickShape) }),
    'The schedule',
  ),
})

export const create = route('admin', 'schedules.create', 'post /schedules', {
  summary: 'Create a schedule',
  request: body(newScheduleShape, 'The schedule'),
  responses: { 201: json(scheduleShape, 'The schedule') },
})

export const change = route('admin', 'schedules.change', 'patch /schedules/{name}', {
  summary: 'Override options of a schedule; omitted options are unchanged',
  request: { params: byName, ...body(scheduleChangeShape, 'The change') },
  responses: one,
})

export const pause = route('operator', 'schedules.pause', 'post /schedules/{name}/pause', {
  summary: 'Pause a schedule',
  ...onOne,
})

export const resume = route('operator', 'schedules.resume', 'post /schedules/{name}/resume', {
  summary: 'Resume a schedule; ticks during the pause are skipped',
  ...onOne,
})

export const trigger = route('operator', 'schedules.trigger', 'post /schedules/{name}/trigger', {
  summary: 'Enqueue a job of a schedule now; its next run is unchanged',
  request: {
    params: byName,
    ...optionalBody(
      z.strictObject({ delay: duration.optional() }).openapi('Trigger'),
      'With a delay, the job starts later; cancel it before then to undo the trigger',
    ),
  },
  responses: ok(z.object({ outcome: tickOutcomeShape, job: z.string() }), 'The job'),
})

export const remove = route('admin', 'schedules.delete', 'delete /schedules/{name}', {
  summary:
    'Delete a schedule but not its jobs; a schedule defined in code stays deleted until its override is reset',
  request: { params: byName },
  responses: { 204: { description: 'Deleted' } },
})

export const routes: Routes = (api, { mill: { schedules }, redactFor }) => {
  const seen = <View extends ScheduleView>(who: Who | null, one: View): View => ({
    ...one,
    payload: redactFor(who, one.payload),
  })

  api.openapi(list, async (c) => {
    const all = await schedules.listWithStates()
    return c.json({ schedules: all.map((one) => seen(c.get('who'), one)) }, 200)
  })
  api.openapi(next, async (c) => {
    const { when, zone, count } = c.req.valid('query')
    const runs = await schedules.nextRuns({ when, zone }, count)
    return c.json({ text: await schedules.describe(when, zone), runs }, 200)
  })
  api.openapi(inspect, async (c) => {
    const { name } = c.req.valid('param')
    const runs = await schedules.nextRuns(name)
    const [schedule, history] = await Promise.all([schedules.get(name), schedules.history(name, RUNS)])
    if (schedule === null) throw scheduleUnknown(name)
    return c.json({ schedule: seen(c.get('who'), schedule), runs, history }, 200)
  })
  api.openapi(create, async (c) => {
    const given = c.req.valid('json')
    const refusal = refuseOwnKind(given.job, 'job')
    if (refusal !== null) return refusal as never
    const after = await schedules.create(given as NewSchedule<unknown>, byCaller(c))
    note(c, { target: after.name, after })
    return c.json(after, 201)
  })
  api.openapi(change, async (c) => {
    const { name } = c.req.valid('param')
    const before = await schedules.get(name)
    const after = await schedules.change(name, c.req.valid('json') as ScheduleChange, byCaller(c))
    note(c, { target: name, before, after })
    return c.json(after, 200)
  })
  for (const [declared, verb] of [
    [pause, 'pause'],
    [resume, 'resume'],
  ] as const)
    api.openapi(declared, async (c) => {
      const { name } = c.req.valid('param')
      const before = await schedules.get(name)
      const after = await schedules[verb](name, byCaller(c))
      note(c, { target: name, before: { paused: before?.paused }, after: { paused: after.paused } })
      return c.json(seen(c.get('who'), after), 200)
    })
  api.openapi(trigger, async (c) => {
    const { name } = c.req.valid('param')
    const after = await schedules.trigger(name, omitUndefined(c.req.valid('json')))
    note(c, { target: name, job: after.job, after })
    return c.json(after, 200)
  })
  api.openapi(remove, async (c) => {
    const { name } = c.req.valid('param')
    const before = await schedules.get(name)
    if (!(await schedules.delete(name, byCaller(c)))) throw scheduleUnknown(name)
    note(c, { target: name, before })
    return c.body(null, 204)
  })
}

function scheduleUnknown(name: string): JobmillError {
  return new JobmillError('SCHEDULE_UNKNOWN', 'no schedule has this name', {
    field: 'name',
    value: quote(name),
    fix: 'Use a name from GET /api/schedules',
  })
}
