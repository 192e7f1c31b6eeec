/**
 * Actions on one job: retry, run now, cancel, delete. An action that the state of the job does not allow is a
 * conflict.
 */
import { z } from '@hono/zod-openapi'
import { JobmillError } from 'jobmill'
import { BULK_KIND, type OperateAnswer } from 'jobmill/internal'
import { quote } from 'jobmill/store'
import { json, note, optionalBody, route, type Routes } from '../app.ts'
import { problem } from '../problem.ts'
import { verdictShape } from '../shapes/enqueue.ts'

const byId = z.object({ id: z.string() })

const retry = route('operator', 'jobs.retry', 'post /jobs/{id}/retry', {
  summary: 'Retry a dead or cancelled job',
  request: { params: byId },
  responses: { 200: json(verdictShape, 'The outcome') },
})

const runNow = route('operator', 'jobs.run-now', 'post /jobs/{id}/run-now', {
  summary: 'Run a scheduled job now',
  request: { params: byId },
  responses: { 200: json(verdictShape, 'The outcome') },
})

const cancel = route('operator', 'jobs.cancel', 'post /jobs/{id}/cancel', {
  summary: 'Cancel a job; a running handler is aborted',
  request: {
    params: byId,
    ...optionalBody(
      z.strictObject({ reason: z.string().min(1).max(1_000).optional() }).openapi('Cancel'),
      'The reason',
    ),
  },
  responses: {
    200: json(verdictShape, 'The outcome; the state of a running job stays running until its handler ends'),
  },
})

const remove = route('admin', 'jobs.delete', 'delete /jobs/{id}', {
  summary: 'Delete a job that is not running, and its history',
  request: { params: byId },
  responses: { 200: json(verdictShape, 'The outcome') },
})

export type JobActRoute = typeof retry | typeof runNow | typeof cancel | typeof remove

export const jobActRoutes: Routes = (api, { mill }) => {
  const acts = [
    [retry, (id: string) => mill.retry(id)],
    [runNow, (id: string) => mill.runNow(id)],
    [remove, (id: string) => mill.delete(id)],
  ] as const
  for (const [declared, act] of acts)
    api.openapi(declared, async (c) => {
      const { id } = c.req.valid('param')
      const job = await mill.get(id)
      // Retrying a bulk action runs it again, and it may delete jobs.
      if (job?.kind === BULK_KIND && c.get('who')?.role !== 'admin')
        return problem('FORBIDDEN', {
          detail: 'retrying, running or deleting a bulk action requires the role admin',
        }) as never
      const before = job?.state ?? null
      const answer = await act(id)
      if (answer.verdict === 'unknown') throw jobUnknown(id)
      if (answer.verdict === 'refused') return conflict(answer) as never
      note(c, {
        target: answer.id,
        job: answer.id,
        before: { state: before },
        after: { state: answer.state },
      })
      return c.json(answer, 200)
    })

  api.openapi(cancel, async (c) => {
    const { id } = c.req.valid('param')
    const { reason = `cancelled by ${c.get('who')?.name ?? 'an anonymous caller'}` } = c.req.valid('json')
    const before = await mill.get(id)
    const answer = await mill.cancel(id, reason)
    if (answer.verdict === 'unknown' || before === null) throw jobUnknown(id)
    if (answer.verdict === 'refused') return conflict(answer) as never
    note(c, {
      target: before.id,
      job: before.id,
      queue: before.queue,
      before: { state: before.state },
      after: { state: answer.state, reason },
    })
    return c.json(answer, 200)
  })
}

function conflict({ state, hint }: OperateAnswer): Response {
  return problem('STATE_WRONG', { detail: `the job is ${state ?? 'gone'}`, fix: hint })
}

export function jobUnknown(id: string): JobmillError {
  return new JobmillError('JOB_UNKNOWN', 'job not found', {
    field: 'id',
    value: quote(id),
    fix: 'Check the id; the job may have been deleted by an operator or by retention',
  })
}
