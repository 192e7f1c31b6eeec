/** Routes for the durable steps of a job, and for the events that its handler waits for. */
import { z } from '@hono/zod-openapi'
import { body, note, ok, route, type Routes } from '../app.ts'
import { stepShape } from '../shapes/step.ts'
import { jobUnknown } from './job-acts.ts'

const byId = z.object({ id: z.string() })
const event = z.string().openapi({ description: 'the name of the event, as the handler waits for it' })
const payload = z.unknown().optional().openapi({ description: 'any JSON value (default null)' })
const sent = ok(z.object({ id: z.uuid() }).openapi('SentEvent'), 'The job that receives the event')

export const list = route('viewer', 'jobs.steps', 'get /jobs/{id}/steps', {
  summary: 'List the durable steps of a job: what ran, what it returned, and what it waits for',
  request: {
    params: byId,
    query: z.strictObject({
      largest: z.coerce.number().int().min(0).optional().openapi({
        description: 'omit a result or checkpoint whose JSON is larger, in bytes (default: no limit)',
      }),
    }),
  },
  responses: ok(z.object({ steps: z.array(stepShape) }), 'The steps, in their order'),
})

export const sendEvent = route('operator', 'jobs.send-event', 'post /jobs/{id}/events', {
  summary: 'Send an event to a job; it is kept until the handler waits for it',
  request: { params: byId, ...body(z.strictObject({ event, payload }).openapi('NewEvent'), 'The event') },
  responses: sent,
})

export const sendByKey = route('operator', 'jobs.send-event-by-key', 'post /jobs/events', {
  summary: 'Send an event to the job that holds a dedupe key in the scope global',
  request: body(
    z.strictObject({ dedupeKey: z.string(), event, payload }).openapi('NewEventByKey'),
    'The key and the event',
  ),
  responses: sent,
})

export const routes: Routes = (api, { mill, redactFor, jobReads }) => {
  api.openapi(list, (c) =>
    jobReads(c, async () => {
      const { id } = c.req.valid('param')
      const { largest = Number.POSITIVE_INFINITY } = c.req.valid('query')
      const steps = await mill.steps(id)
      if (steps === null) throw jobUnknown(id)
      const who = c.get('who')
      const seen = steps.map(({ result, checkpoint, ...step }) => {
        const sizes = { result: sizeOf(result), checkpoint: sizeOf(checkpoint) }
        const kept = {
          result: sizes.result > largest ? null : (result ?? null),
          checkpoint: sizes.checkpoint > largest ? null : (checkpoint ?? null),
        }
        return { ...step, ...redactFor(who, kept), bytes: sizes.result + sizes.checkpoint }
      })
      return c.json({ steps: seen }, 200)
    }),
  )

  api.openapi(sendEvent, async (c) => {
    const { id } = c.req.valid('param')
    const { event: name, payload: value = null } = c.req.valid('json')
    const job = await mill.sendEvent(id, name, value)
    note(c, { target: job.id, job: job.id, after: { event: name } })
    return c.json(job, 200)
  })

  api.openapi(sendByKey, async (c) => {
    const { dedupeKey, event: name, payload: value = null } = c.req.valid('json')
    const job = await mill.sendEvent({ dedupeKey }, name, value)
    note(c, { target: job.id, job: job.id, after: { event: name } })
    return c.json(job, 200)
  })
}

function sizeOf(value: unknown): number {
  return value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value))
}
