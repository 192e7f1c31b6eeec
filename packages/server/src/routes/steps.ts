/** Routes for the durable steps of a job, and for the events that its handler waits for. */
import { z } from '@hono/zod-openapi'
import { body, note, ok, route, type Routes } from '../app.ts'
import { stepShape } from '../shapes/step.ts'
import { verdictShape } from '../shapes/enqueue.ts'
import { conflict, jobUnknown } from './job-acts.ts'

const byId = z.object({ id: z.string() })
const event = z.string().openapi({ description: 'the name of the event that the handler waits for' })
const payload = z.unknown().optional().openapi({ description: 'any JSON value (default null)' })
const sent = ok(z.object({ id: z.uuid() }).openapi('SentEvent'), 'The job that receives the event')

export const list = route('viewer', 'jobs.steps', 'get /jobs/{id}/steps', {
  summary: 'List the durable steps of a job: what ran, what it returned, and what it waits for',
  request: {
    params: byId,
    query: z.strictObject({
      largest: z.coerce.number().int().min(0).optional().openapi({
        description:
          'maximum size of a result or checkpoint, in bytes of JSON; larger ones are omitted (default: no limit)',
      }),
    }),
  },
  responses: ok(
    z.object({
      steps: z.array(stepShape),
      parent: z
        .object({ id: z.uuid(), step: z.string() })
        .nullable()
        .openapi({ description: 'the job whose step waits for this one; null if there is none' }),
    }),
    'The steps, in their order',
  ),
})

export const sendEvent = route('producer', 'jobs.send-event', 'post /jobs/{id}/events', {
  summary: 'Send an event to a job; it is kept until the handler waits for it',
  request: { params: byId, ...body(z.strictObject({ event, payload }).openapi('NewEvent'), 'The event') },
  responses: sent,
})

export const sendByKey = route('producer', 'jobs.send-event-by-key', 'post /jobs/events', {
  summary: 'Send an event to the job that holds a dedupe key in the scope global',
  request: body(
    z.strictObject({ dedupeKey: z.string(), event, payload }).openapi('NewEventByKey'),
    'The key and the event',
  ),
  responses: sent,
})

const from = z.string().openapi({ description: 'the name of the first step that runs again' })

export const rewind = route('operator', 'jobs.rewind', 'post /jobs/{id}/rewind', {
  summary: 'Run an ended job again from one of its steps; earlier steps keep their results',
  request: { params: byId, ...body(z.strictObject({ from }).openapi('Rewind'), 'The step') },
  responses: ok(verdictShape, 'Whether the job runs again'),
})

export const fork = route('operator', 'jobs.fork', 'post /jobs/{id}/fork', {
  summary: 'Enqueue a copy of a job that starts at one of its steps, with the results of earlier steps',
  request: {
    params: byId,
    ...body(
      z
        .strictObject({
          from,
          payload: z
            .unknown()
            .optional()
            .openapi({ description: 'the payload of the new job (default: the same)' }),
        })
        .openapi('Fork'),
      'The step, and the payload',
    ),
  },
  responses: ok(z.object({ id: z.uuid() }).openapi('ForkedJob'), 'The new job'),
})

export const routes: Routes = (api, { mill, redactFor, jobReads }) => {
  api.openapi(list, (c) =>
    jobReads(c, async () => {
      const { id } = c.req.valid('param')
      const { largest = Number.POSITIVE_INFINITY } = c.req.valid('query')
      const [steps, parent] = await Promise.all([mill.steps(id), mill.parentOf(id)])
      if (steps === null) throw jobUnknown(id)
      const who = c.get('who')
      const seen = steps.map(({ result, checkpoint, children, ...step }) => {
        const sizes = { result: sizeOf(result), checkpoint: sizeOf(checkpoint) }
        const kept = {
          result: sizes.result > largest ? null : (result ?? null),
          checkpoint: sizes.checkpoint > largest ? null : (checkpoint ?? null),
        }
        const bytes = sizes.result + sizes.checkpoint
        const ends = children.map(({ error, ...child }) => ({ ...child, ...redactFor(who, { error }) }))
        // The name of the step is the key of its values: the result of a step "api-key" is a secret.
        const seenUnder = (value: unknown) => redactFor(who, { [step.name]: value })[step.name] ?? null
        const values = { result: seenUnder(kept.result), checkpoint: seenUnder(kept.checkpoint) }
        return { ...step, ...values, children: ends, bytes }
      })
      return c.json({ steps: seen, parent }, 200)
    }),
  )

  api.openapi(rewind, async (c) => {
    const { id } = c.req.valid('param')
    const before = await mill.get(id)
    const answer = await mill.rewind(id, c.req.valid('json'))
    if (answer.verdict === 'unknown') throw jobUnknown(id)
    if (answer.verdict === 'refused') return conflict(answer) as never
    const { from } = c.req.valid('json')
    note(c, { target: id, job: id, before: { state: before?.state }, after: { state: answer.state, from } })
    return c.json(answer, 200)
  })

  api.openapi(fork, async (c) => {
    const { id } = c.req.valid('param')
    const { from, payload: given } = c.req.valid('json')
    const job = await mill.fork(id, { from, ...(given !== undefined && { payload: given }) })
    note(c, { target: id, job: id, after: { from, forked: job.id } })
    return c.json({ id: job.id }, 200)
  })

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
