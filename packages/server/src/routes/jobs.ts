/** Routes that list, inspect and enqueue jobs. Actions on existing jobs are in job-acts.ts. */
import { z } from '@hono/zod-openapi'
import type { EnqueueItem, EnqueueOptions, JobView, ListedJob } from 'jobmill'
import { type AttemptView, fingerprintOf, type Includable, INCLUDABLE, type Who } from 'jobmill/internal'
import { body, json, note, ok, route, type Routes, seesAll } from '../app.ts'
import { problem, refuseOwnKind } from '../problem.ts'
import { enqueuedShape, enqueueShape } from '../shapes/enqueue.ts'
import { filterOf, filterQuery, listOf } from '../shapes/filter.ts'
import {
  attemptShape,
  jobCountShape,
  jobPageShape,
  jobShape,
  leftShape,
  policyShape,
  whyShape,
} from '../shapes/job.ts'
import { jobUnknown } from './job-acts.ts'

const MOST_AT_ONCE = 1_000

const FAILED: ReadonlySet<string> = new Set(['failed', 'timed-out', 'failed-permanently'])

type Left = z.infer<typeof leftShape>

export const list = route('viewer', 'jobs.list', 'get /jobs', {
  summary: 'List jobs by filter, with pagination',
  request: {
    query: z.strictObject({
      ...filterQuery,
      limit: z.coerce.number().int().min(1).max(500).default(50),
      cursor: z.string().optional(),
      include: listOf(z.enum(INCLUDABLE)).openapi({
        description: 'extra fields of each job; one or more: repeated or comma-separated',
      }),
    }),
  },
  responses: ok(jobPageShape, 'A page of jobs'),
})

export const count = route('viewer', 'jobs.count', 'get /jobs/count', {
  summary: 'Count the jobs that match a filter',
  request: { query: z.strictObject(filterQuery) },
  responses: ok(jobCountShape, 'The number of jobs, by state'),
})

export const inspect = route('viewer', 'jobs.inspect', 'get /jobs/{id}', {
  summary: 'Get a job with its attempts, its log, and why it is not running',
  request: {
    params: z.object({ id: z.string() }),
    query: z.strictObject({
      largest: z.coerce.number().int().min(0).optional().openapi({
        description:
          'maximum size of a payload or result, in bytes of JSON; larger ones are omitted (default: no limit)',
      }),
    }),
  },
  responses: ok(
    z.object({
      job: jobShape,
      attempts: z.array(attemptShape),
      why: whyShape,
      policy: policyShape,
      left: leftShape,
      fingerprint: z.string().nullable().openapi({
        description:
          'fingerprint of the error, for errors.list; null unless the job failed, or waits to retry',
      }),
    }),
    'The job',
  ),
})

export const enqueue = route('producer', 'jobs.enqueue', 'post /jobs', {
  summary: 'Enqueue a job',
  request: body(enqueueShape, 'The job'),
  responses: {
    201: json(enqueuedShape, 'Enqueued'),
    200: json(enqueuedShape, 'A job with this dedupe key already exists'),
  },
})

export const enqueueMany = route('producer', 'jobs.enqueue-many', 'post /jobs/many', {
  summary: 'Enqueue up to 1,000 jobs of a kind atomically',
  request: body(
    z
      .strictObject({
        kind: z.string(),
        jobs: z
          .array(enqueueShape.omit({ kind: true }))
          .min(1)
          .max(MOST_AT_ONCE),
      })
      .openapi('NewJobs'),
    'The jobs',
  ),
  responses: { 201: json(z.object({ jobs: z.array(enqueuedShape) }), 'Enqueued') },
})

export const routes: Routes = (api, { mill, redactFor, pageReads, searchReads, jobReads }) => {
  api.openapi(list, async (c) => {
    const { limit, cursor, include = [], ...query } = c.req.valid('query')
    const who = c.get('who')
    const refusal = refuseSearch(query, who)
    if (refusal !== null) return refusal as never
    const read = async () => {
      const page = await mill.list(filterOf(query), {
        limit,
        include,
        ...(cursor !== undefined && { cursor }),
      })
      return c.json({ ...page, jobs: page.jobs.map((job) => seenParts(job, include, who)) }, 200)
    }
    if (include.length > 0) return pageReads(c, read)
    return scansPayloads(query) ? searchReads(c, read) : read()
  })

  api.openapi(count, async (c) => {
    const query = c.req.valid('query')
    const refusal = refuseSearch(query, c.get('who'))
    if (refusal !== null) return refusal as never
    return c.json(await mill.count(filterOf(query), { signal: c.req.raw.signal }), 200)
  })

  /** Redacts user data for viewers. Undefined fields become null, so that every included field is present. */
  function seenParts(job: ListedJob, include: readonly Includable[], who: Who | null): ListedJob {
    if (include.length === 0) return job
    const parts = Object.fromEntries(include.map((part) => [part, job[part] ?? null]))
    return { ...job, ...redactFor(who, parts) }
  }

  api.openapi(inspect, (c) =>
    jobReads(c, async () => {
      const { id } = c.req.valid('param')
      const [job, attempts, why] = await Promise.all([mill.get(id), mill.history(id), mill.why(id)])
      if (job === null || why === null) throw jobUnknown(id)
      const policy = await mill.policy(job)
      const who = c.get('who')
      const { largest = Number.POSITIVE_INFINITY } = c.req.valid('query')
      const { job: trimmed, left } = withoutLarge(complete(job), largest)
      // Redacts user data only, not our own fields.
      const { payload, metadata, result, progress, log } = trimmed
      const seen = redactFor(who, { payload, metadata, result, progress, log })
      const seenAttempts = attempts.map((one) => ({ ...one, log: redactFor(who, one.log) }))
      const fingerprint = fingerprintFor(job, attempts)
      return c.json(
        { job: { ...trimmed, ...seen }, attempts: seenAttempts, why, policy, left, fingerprint },
        200,
      )
    }),
  )

  api.openapi(enqueue, async (c) => {
    const { kind, payload = null, ...options } = c.req.valid('json')
    const refusal = refuseOwnKind(kind, 'kind')
    if (refusal !== null) return refusal as never
    const { id, outcome } = await mill.enqueue(kind, payload, options as EnqueueOptions)
    note(c, { target: id, job: id, after: { kind, outcome } })
    return c.json({ id, outcome }, outcome === 'enqueued' ? 201 : 200)
  })

  api.openapi(enqueueMany, async (c) => {
    const { kind, jobs } = c.req.valid('json')
    const refusal = refuseOwnKind(kind, 'kind')
    if (refusal !== null) return refusal as never
    const items = jobs.map(({ payload = null, ...rest }) => ({ payload, ...rest }))
    const made = await mill.enqueueMany(kind, items as EnqueueItem<unknown>[])
    const [first] = made
    note(c, { target: first?.id ?? kind, after: { kind, jobs: made.length } })
    return c.json({ jobs: made.map(({ id, outcome }) => ({ id, outcome })) }, 201)
  })
}

const has = (query: object, parameter: string): boolean => Reflect.get(query, parameter) !== undefined

/** The parameter that searches payloads, if there is one. */
function searchOf(query: object): string | undefined {
  return ['payloadText', 'payloadAt', 'indexedPayload'].find((one) => has(query, one))
}

/** The index leaves few payloads to read. */
function scansPayloads(query: object): boolean {
  return searchOf(query) !== undefined && !has(query, 'indexedPayload')
}

/** Refuses a filter that would let a viewer guess at hidden values. */
function refuseSearch(query: object, who: Who | null): Response | null {
  const field = searchOf(query)
  if (field === undefined || seesAll(who)) return null
  return problem('FORBIDDEN', { detail: 'searching payloads requires the operator role', field })
}

/** Sets missing fields to null, so that every field is present. */
function complete({ result = null, progress = null, ...job }: JobView): JobView {
  return { ...job, result, progress }
}

/** Which error group lists the job. */
function fingerprintFor({ kind, state, error }: JobView, attempts: readonly AttemptView[]): string | null {
  if (state === 'dead') return fingerprintOf(kind, error).fingerprint
  const last = attempts.at(-1)
  const isRetrying = (state === 'scheduled' || state === 'ready') && last !== undefined
  return isRetrying && FAILED.has(last.outcome) ? fingerprintOf(kind, last.error).fingerprint : null
}

/** Omits large fields for the dashboard: they take long to send and are not read there. */
function withoutLarge(job: JobView, largest: number): { job: JobView; left: Left } {
  if (largest === Number.POSITIVE_INFINITY) return { job, left: {} }
  const left: Left = {}
  for (const field of ['payload', 'result'] as const) {
    const bytes = Buffer.byteLength(JSON.stringify(job[field]))
    if (bytes > largest) left[field] = bytes
  }
  const nothing = Object.fromEntries(Object.keys(left).map((field) => [field, null]))
  return { job: { ...job, ...nothing }, left }
}
