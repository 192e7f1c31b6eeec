/** What is done to one job: retry, run now, cancel, delete. What its state does not allow is a conflict. */
import { z } from '@hono/zod-openapi'
import { JobmillError } from '../../job/errors.ts'
import type { OperateAnswer } from '../../runtime/operate.ts'
import { json, note, optionalBody, route, type Routes } from '../app.ts'
import { problem } from '../problem.ts'
import { BULK_KIND } from '../../runtime/bulk.ts'
import { verdictShape } from '../shapes/enqueue.ts'

const byId = z.object({ id: z.string() })

const retry = route('operator', 'jobs.retry', {
  method: 'post',
  path: '/jobs/{id}/retry',
  summary: 'A dead or cancelled job begins again',
  request: { params: byId },
  responses: { 200: json(verdictShape, 'What became of it') },
})

const runNow = route('operator', 'jobs.run-now', {
  method: 'post',
  path: '/jobs/{id}/run-now',
  summary: 'A scheduled job is ready now',
  request: { params: byId },
  responses: { 200: json(verdictShape, 'What became of it') },
})

const cancel = route('operator', 'jobs.cancel', {
  method: 'post',
  path: '/jobs/{id}/cancel',
  summary: 'Cancel a job; one that runs is asked to stop',
  request: {
    params: byId,
    ...optionalBody(
      z.strictObject({ reason: z.string().min(1).max(1_000).optional() }).openapi('Cancel'),
      'Why',
    ),
  },
  responses: {
    200: json(
      z.object({ id: z.string(), answer: z.enum(['cancelled', 'requested']) }).openapi('Cancelled'),
      'Cancelled, or asked to stop because it runs',
    ),
  },
})

const remove = route('admin', 'jobs.delete', {
  method: 'delete',
  path: '/jobs/{id}',
  summary: 'Delete a job that does not run, with its history',
  request: { params: byId },
  responses: { 200: json(verdictShape, 'What became of it') },
})

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
      // To retry an act is to do again what it did, and that may have been to delete.
      if (job?.kind === BULK_KIND && c.get('who')?.role !== 'admin')
        return problem('FORBIDDEN', { detail: 'acts on many jobs are an admin’s to do again' }) as never
      const before = job?.state ?? null
      const answer = await act(id)
      if (answer.verdict === 'unknown') throw jobUnknown(id)
      if (answer.verdict === 'refused') return refused(answer) as never
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
    const { reason = `cancelled by ${c.get('who')?.name ?? 'somebody'}` } = c.req.valid('json')
    const before = await mill.get(id)
    const answer = await mill.cancel(id, reason)
    if (answer === 'unknown' || before === null) throw jobUnknown(id)
    if (answer === 'finished')
      return problem('STATE_WRONG', { detail: 'It had ended before', fix: 'Delete it, or leave it' }) as never
    note(c, {
      target: before.id,
      job: before.id,
      queue: before.queue,
      before: { state: before.state },
      after: { answer, reason },
    })
    return c.json({ id: before.id, answer }, 200)
  })
}

function refused({ state, hint }: OperateAnswer): Response {
  return problem('STATE_WRONG', { detail: `The job is ${state ?? 'gone'}`, fix: hint })
}

export function jobUnknown(id: string): JobmillError {
  return new JobmillError('JOB_UNKNOWN', 'no job has this id', {
    field: 'id',
    value: id,
    fix: 'Check the id: the job may have been deleted by an operator or by retention',
  })
}
