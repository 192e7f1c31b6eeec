/**
 * Actions on one job: retry, run now, cancel, delete. An action that the state of the job does not allow is
 * a conflict. A built-in job runs a bulk action on all jobs that match a filter, reports its progress, and
 * can be cancelled.
 */
import { z } from '@hono/zod-openapi'
import { JobmillError } from 'jobmill'
import {
  BULK_ACTS,
  BULK_KIND,
  BULK_QUEUE,
  type BulkPayload,
  checkBulkPatch,
  DEFAULTS,
  isAboutActs,
  mayDo,
  omitUndefined,
  type OperateAnswer,
  statesOf as checkAct,
} from 'jobmill/internal'
import { isClaiming, quote } from 'jobmill/store'
import { body, json, note, ok, optionalBody, route, type Routes } from '../app.ts'
import { problem } from '../problem.ts'
import { optional, verdictShape } from '../shapes/enqueue.ts'
import { bulkFilterOf, bulkQuery, filterOfBody, filterShape } from '../shapes/filter.ts'
import { listedStateShape } from '../shapes/job.ts'

const reason = z.string().min(1).max(1_000).optional()
const byId = z.object({ id: z.string() })

const onOne = { request: { params: byId }, responses: ok(verdictShape, 'The outcome') }

export const retry = route('operator', 'jobs.retry', 'post /jobs/{id}/retry', {
  summary: 'Retry a dead or cancelled job',
  ...onOne,
})

export const runNow = route('operator', 'jobs.run-now', 'post /jobs/{id}/run-now', {
  summary: 'Run a scheduled job now',
  ...onOne,
})

export const cancel = route('operator', 'jobs.cancel', 'post /jobs/{id}/cancel', {
  summary: 'Cancel a job; a running handler is aborted',
  request: {
    params: byId,
    ...optionalBody(z.strictObject({ reason }).openapi('Cancel'), 'The reason'),
  },
  responses: ok(verdictShape, 'The outcome; the state of a running job stays running until its handler ends'),
})

export const remove = route('admin', 'jobs.delete', 'delete /jobs/{id}', {
  summary: 'Delete a job that is not running, and its history',
  ...onOne,
})

const actShape = z.enum(BULK_ACTS)

export const preview = route('operator', 'bulk.preview', 'get /bulk', {
  summary: 'Preview how many jobs a bulk action would change',
  request: { query: z.strictObject({ act: actShape, ...bulkQuery }) },
  responses: ok(
    z
      .object({ jobs: z.int(), byState: z.partialRecord(listedStateShape, z.int()).readonly() })
      .openapi('BulkPreview'),
    'The number of jobs that would change',
  ),
})

const patchShape = optional(
  z.record(z.string(), z.unknown()),
  'for retry: a JSON merge patch (RFC 7396) of each payload; null removes a member; jobs whose patched payload is invalid are skipped and counted',
)

export const run = route('operator', 'bulk.run', 'post /bulk', {
  summary:
    'Run a bulk action on all jobs that match a filter; delete, and any change to bulk actions, requires admin',
  request: body(
    z.strictObject({ act: actShape, filter: filterShape, reason, patch: patchShape }).openapi('BulkAct'),
    'The action and the filter',
  ),
  responses: {
    202: json(
      z.object({ id: z.uuid() }).openapi('BulkBegun'),
      'The job that runs it: inspect it for progress, cancel it to stop',
    ),
  },
})

export const routes: Routes = (api, { mill }) => {
  const acts = [
    [retry, 'retry'],
    [runNow, 'runNow'],
    [remove, 'delete'],
  ] as const
  for (const [declared, verb] of acts)
    api.openapi(declared, async (c) => {
      const { id } = c.req.valid('param')
      const job = await mill.get(id)
      // Retrying a bulk action runs it again, and it may delete jobs.
      if (job?.kind === BULK_KIND && c.get('who')?.role !== 'admin')
        return problem('FORBIDDEN', {
          detail: 'retrying, running or deleting a bulk action requires the admin role',
        }) as never
      const answer = await mill[verb](id)
      if (answer.verdict === 'unknown') throw jobUnknown(id)
      if (answer.verdict === 'refused') return conflict(answer) as never
      const before = { state: job?.state ?? null }
      note(c, { target: answer.id, job: answer.id, before, after: { state: answer.state } })
      return c.json(answer, 200)
    })

  api.openapi(cancel, async (c) => {
    const { id } = c.req.valid('param')
    const { reason = `cancelled by ${c.get('who')?.name ?? 'an anonymous caller'}` } = c.req.valid('json')
    const before = await mill.get(id)
    const answer = await mill.cancel(id, reason)
    if (answer.verdict === 'unknown' || before === null) throw jobUnknown(id)
    if (answer.verdict === 'refused') return conflict(answer) as never
    const { id: job, queue, state } = before
    note(c, { target: job, job, queue, before: { state }, after: { state: answer.state, reason } })
    return c.json(answer, 200)
  })

  api.openapi(preview, async (c) => {
    const { act, ...query } = c.req.valid('query')
    return c.json(await mill.bulk.preview(act, bulkFilterOf(query), { signal: c.req.raw.signal }), 200)
  })

  api.openapi(run, async (c) => {
    const { act, filter: given, reason, patch: givenPatch } = c.req.valid('json')
    const patch = checkBulkPatch(act, givenPatch, 'patch', DEFAULTS.payloadLimitBytes)
    const filter = filterOfBody(given)
    const who = c.get('who')
    // Retrying a bulk action runs it again, and it may delete jobs.
    if ((act === 'delete' || isAboutActs(filter)) && (who === null || !mayDo(who, 'admin')))
      return problem(
        'FORBIDDEN',
        act === 'delete'
          ? { detail: 'delete requires the admin role', field: 'act' }
          : { detail: 'changing bulk actions requires the admin role', field: 'filter' },
      ) as never
    const instances = await mill.instances()
    if (!instances.some((one) => isClaiming(one) && one.kinds.includes(BULK_KIND)))
      return problem('BULK_UNSERVED', {
        fix: `Run jobmill start or jobmill work, or add bulkJob(() => mill) to the jobs of a mill that serves the queue ${BULK_QUEUE}`,
      }) as never
    checkAct(act, filter)
    const payload: BulkPayload = {
      act,
      filter: await mill.bulk.upToNow(filter),
      ...(reason !== undefined && { reason }),
      ...(patch !== undefined && { patch, ...omitUndefined({ by: who?.name }) }),
    }
    const { id } = await mill.enqueue(BULK_KIND, payload, {
      queue: BULK_QUEUE,
      tags: [`by:${who?.name ?? ''}`],
    })
    note(c, { target: id, job: id, after: { act, filter, ...(patch !== undefined && { patch }) } })
    return c.json({ id }, 202)
  })
}

export function conflict({ state, hint }: OperateAnswer): Response {
  return problem('STATE_WRONG', { detail: `the job is ${state ?? 'deleted'}`, fix: hint })
}

export function jobUnknown(id: string): JobmillError {
  return new JobmillError('JOB_UNKNOWN', 'job not found', {
    field: 'id',
    value: quote(id),
    fix: 'Check the id; the job may have been deleted by an operator or by retention',
  })
}
