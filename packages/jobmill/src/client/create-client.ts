/** `createClient`: the calls of the client, each with its route of the HTTP API. */
import type { EnqueuedJob, EnqueueItem, EnqueueOptions } from '../job/enqueue/handle.ts'
import { sleep } from '../platform/sleep.ts'
import { webPlatform, type WebPlatform } from '../platform/web-platform.ts'
import type { JobView } from '../runtime/operate/job-view.ts'
import type { OperateAnswer } from '../runtime/operate/operate.ts'
import { callWith } from './call.ts'
import { ClientError } from './client-error.ts'
import type { ClientJob, ClientOptions, ClientResultOptions, InputOf, JobsByKind, ResultOf } from './types.ts'

type Written = Pick<EnqueuedJob, 'id' | 'outcome'>

/** A payload that may be null can be omitted. */
type Rest<Input> = null extends Input
  ? readonly [payload?: Input, options?: EnqueueOptions]
  : readonly [payload: Input, options?: EnqueueOptions]

export interface Client<Jobs = unknown, Kinds = JobsByKind<Jobs>> {
  /**
   * Enqueues a job. The client mints its id, and resends the request until it knows the result: the same id
   * is the same job.
   */
  enqueue<Kind extends keyof Kinds & string>(
    kind: Kind,
    ...rest: Rest<InputOf<Kinds[Kind]>>
  ): Promise<ClientJob<ResultOf<Kinds[Kind]>>>
  /** Enqueues up to 1,000 jobs, or none of them. */
  enqueueMany<Kind extends keyof Kinds & string>(
    kind: Kind,
    items: readonly EnqueueItem<InputOf<Kinds[Kind]>>[],
  ): Promise<ClientJob<ResultOf<Kinds[Kind]>>[]>
  /** The job, or null if no job has this id. Requires the viewer role. */
  get(id: string): Promise<JobView | null>
  /**
   * Polls until the job has ended, and resolves to its result. Rejects with JOB_DEAD, JOB_CANCELLED,
   * JOB_UNKNOWN, RESULT_NOT_KEPT or RESULT_TIMEOUT. Requires the viewer role.
   */
  result(id: string, options?: ClientResultOptions): Promise<unknown>
  /** Requires the operator role. */
  cancel(id: string, reason?: string): Promise<OperateAnswer>
  /** Sends an event to a job, by its id or by the dedupe key that it holds. */
  sendEvent(
    target: string | { readonly dedupeKey: string },
    event: string,
    payload?: unknown,
  ): Promise<{ readonly id: string }>
}

/** What `GET /jobs/{id}` returns. `left` has the size of omitted fields. */
interface Inspected {
  readonly job: JobView
  readonly left: { readonly result?: number }
}

const ENDED: ReadonlySet<string> = new Set(['done', 'dead', 'cancelled'])
const FIRST_POLL_MS = 100
const LONGEST_POLL_MS = 2_000
/** A poll omits larger payloads and results. */
const POLLED_BYTES = 65_536
/** A poll has this long even if the timeout of the result is shorter. */
const LEAST_CALL_MS = 1_000

/**
 * A client for the HTTP API. `typeof jobs` is an array, an object or a module of jobs: `import type` it, so
 * that the handlers are not part of your bundle.
 */
export function createClient<Jobs = unknown>(options: ClientOptions): Client<Jobs> {
  return clientFor(options, webPlatform) as Client<Jobs>
}

function clientFor(options: ClientOptions, platform: WebPlatform): Client {
  checkUrl(options.url)
  const call = callWith(options, platform)

  const jobOf = ({ id, outcome }: Written): ClientJob => ({
    id,
    outcome,
    result: (how) => result(id, how),
  })

  async function inspect(id: string, query: string, request = {}): Promise<Inspected | null> {
    try {
      const path = `/jobs/${encodeURIComponent(id)}${query}`
      return (await call({ path, ...request })) as Inspected
    } catch (error) {
      if (error instanceof ClientError && error.code === 'JOB_UNKNOWN') return null
      throw error
    }
  }

  async function result(id: string, { timeoutMs, signal }: ClientResultOptions = {}): Promise<unknown> {
    const until = timeoutMs === undefined ? Number.POSITIVE_INFINITY : platform.monotonic() + timeoutMs
    const leftMs = (): number => until - platform.monotonic()
    for (let pauseMs = FIRST_POLL_MS; ; pauseMs = Math.min(LONGEST_POLL_MS, pauseMs * 2)) {
      const request = { signal, timeoutMs: Math.max(LEAST_CALL_MS, leftMs()) }
      const found = await inspect(id, `?largest=${POLLED_BYTES}`, request)
      const isLarge = found?.left.result !== undefined
      const ended = isLarge ? await inspect(id, '', { signal }) : found
      if (ended === null) throw jobUnknown(id)
      if (ENDED.has(ended.job.state)) return valueOf(id, ended.job)
      if (leftMs() <= 0) throw timedOut(id, timeoutMs)
      await sleep(platform, Math.min(pauseMs, leftMs()), signal)
      signal?.throwIfAborted()
    }
  }

  return {
    async enqueue(kind, ...[payload = null, own]: readonly [payload?: unknown, options?: EnqueueOptions]) {
      const body = { id: platform.id(), ...own, kind, payload }
      const repeat = `Pass id: '${body.id}' to enqueue the same job again`
      return jobOf((await call({ path: '/jobs', body, repeat })) as Written)
    },
    async enqueueMany(kind, items) {
      const jobs = items.map((item) => ({ id: platform.id(), ...item }))
      const repeat = 'Pass an id with each item, so that you can enqueue the same jobs again'
      const answer = await call({ path: '/jobs/many', body: { kind, jobs }, repeat })
      return (answer as { readonly jobs: readonly Written[] }).jobs.map(jobOf)
    },
    get: async (id) => (await inspect(id, ''))?.job ?? null,
    result,
    cancel: (id, reason) =>
      call({
        path: `/jobs/${encodeURIComponent(id)}/cancel`,
        body: { reason },
        repeat: 'Cancel it again',
      }) as Promise<OperateAnswer>,
    sendEvent(target, event, payload = null) {
      const isId = typeof target === 'string'
      // Never repeated, because each request is an event of its own.
      return call({
        path: isId ? `/jobs/${encodeURIComponent(target)}/events` : '/jobs/events',
        body: { ...(isId ? {} : target), event, payload },
      }) as Promise<{ readonly id: string }>
    },
  }
}

function valueOf(id: string, { state, result, error }: JobView): unknown {
  if (state === 'dead') throw new ClientError('JOB_DEAD', `job ${id} is dead: ${error}`)
  if (state === 'cancelled')
    throw new ClientError('JOB_CANCELLED', `job ${id} was cancelled: ${error ?? 'no reason given'}`)
  if (result !== null || error === null) return result
  throw new ClientError('RESULT_NOT_KEPT', `job ${id} is done, but its result could not be stored: ${error}`)
}

function jobUnknown(id: string): ClientError {
  const fix = 'Check the id: the job may have been deleted, or be in another database'
  return new ClientError('JOB_UNKNOWN', `id: no job has this id (got "${id}"). ${fix}.`, { field: 'id', fix })
}

function timedOut(id: string, timeoutMs: number | undefined): ClientError {
  const fix = 'Await the result again, or raise timeoutMs'
  return new ClientError('RESULT_TIMEOUT', `job ${id} did not end within ${timeoutMs} ms. ${fix}.`, { fix })
}

function checkUrl(url: unknown): void {
  const { location } = globalThis as { readonly location?: { readonly href: string } }
  if (typeof url === 'string' && URL.canParse(url, location?.href)) return
  const fix = 'Pass the address of the HTTP API, such as https://app.example.com/ops/mill'
  throw new ClientError('OPTION_INVALID', `url: must be a URL (got ${JSON.stringify(url)}). ${fix}.`, {
    field: 'url',
    fix,
  })
}
