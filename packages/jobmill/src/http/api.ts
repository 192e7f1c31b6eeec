/** The API as a function from a request to an answer: for a server of ours, or mounted into one of yours. */
import { VERSION } from '../job/version.ts'
import { JobmillError, shown } from '../job/errors.ts'
import { checkObjectKeys } from '../job/known-keys.ts'
import { type Platform, systemPlatform } from '../platform/platform.ts'
import type { Mill } from '../runtime/mill.ts'
import { HTTPException } from 'hono/http-exception'
import { type Api, newApi, type RouteTools } from './app.ts'
import { checkApps, type HttpApps } from './apps.ts'
import { audited } from './audited.ts'
import { checkBasePath, withoutBase } from './base-path.ts'
import { answerBeside, type Beside, checkBeside } from './beside.ts'
import { door, type DoorOptions, type WhoIs } from './door/door.ts'
import { isRead } from './door/reads.ts'
import { bearerOf, holderOf, readTokens } from './door/tokens.ts'
import { type Feed, feed as createFeed } from './feed.ts'
import { type Page, missionControl } from './page.ts'
import { problem, problemOf } from './problem.ts'
import { redactor, SECRET_KEYS } from './redact.ts'
import { remembered, rememberedBy } from './remembered.ts'
import { appRoutes } from './routes/apps.ts'
import { bulkRoutes } from './routes/bulk.ts'
import { errorRoutes } from './routes/errors.ts'
import { eventRoutes } from './routes/events.ts'
import { healthRoutes } from './routes/health.ts'
import { historyRoutes } from './routes/history.ts'
import { jobActRoutes } from './routes/job-acts.ts'
import { jobRoutes } from './routes/jobs.ts'
import { limitRoutes } from './routes/limits.ts'
import { overviewRoutes } from './routes/overview.ts'
import { queueRoutes } from './routes/queues.ts'
import { scheduleRoutes } from './routes/schedules.ts'
import { systemRoutes } from './routes/system.ts'
import { workerRoutes } from './routes/workers.ts'

export interface HttpOptions {
  /** Lines of `name role token`: who may come in. Several at once, so that one can be replaced by another. */
  readonly tokens?: string
  /** Instead: who a request is from, by a session of yours for example; null for nobody. */
  readonly whoIs?: WhoIs
  /** Everybody is an admin. Only where nobody else can reach it. */
  readonly insecure?: boolean
  /** Where all of it is when that is not the root: `/ops/mill`. */
  readonly basePath?: string
  /** False for the API alone, without Mission Control (default true, where it is installed). */
  readonly page?: boolean
  /** Applications behind the same door, by name, at `/api/apps/<name>/…`: to look takes a viewer, everything else an operator. */
  readonly apps?: HttpApps
  /**
   * Asked before all else, with the request as it came: for addresses of an application that have an authentication of their own, such as webhooks. Null for
   * what is not its own. What it answers does not pass our door: no tokens, no limits, and bodies stream.
   */
  readonly beside?: Beside
  /** Keys whose values viewers do not see in payloads, results, metadata and logs. */
  readonly redact?: readonly RegExp[]
  /** The largest body of a request (default 8 MiB). */
  readonly maxBodyBytes?: number
  /** Of all bodies that are being read or worked on, for all callers together (default 8 times the largest). Beyond that callers get 503. */
  readonly maxBodiesBytes?: number
  /** For each name, in this process (default 1,000). */
  readonly requestsPerSecond?: number
  /** For each address, of those who have not said who they are (default 20). */
  readonly strangersPerSecond?: number
  /** Hears of faults on our side, which callers are told nothing of (default: standard error). */
  readonly onError?: (error: unknown, what: string) => void
  readonly platform?: Platform
}

const KEYS = [
  'tokens',
  'whoIs',
  'insecure',
  'basePath',
  'page',
  'apps',
  'beside',
  'redact',
  'maxBodyBytes',
  'maxBodiesBytes',
  'requestsPerSecond',
  'strangersPerSecond',
  'onError',
  'platform',
] as const satisfies readonly (keyof HttpOptions)[]

export interface HttpApi {
  /** Takes `/api/…`, `/metrics`, `/healthz` and `/readyz`, and the addresses of the page; behind `basePath` where there is one. */
  readonly fetch: (request: Request, env?: unknown) => Response | Promise<Response>
  /** Ends what is being listened to, so that a server can close. */
  readonly stop: () => void
  /** Whether Mission Control is there to be looked at. */
  readonly hasPage: boolean
}

/** How old an answer may be that costs more than others. */
const REMEMBERED_MS = 5_000
const MAX_BODY_BYTES = 8 * 1_024 * 1_024
/** Bodies of that size at once. */
const MAX_BODIES = 8
const REQUESTS_PER_SECOND = 1_000
const STRANGERS_PER_SECOND = 20

export function httpApi(mill: Mill<never>, options: HttpOptions): HttpApi {
  checkObjectKeys(options, 'options', KEYS)
  return handlerOf(apiFor(mill, { ...options, whoIs: whoIsOf(options), onlyLocal: false }))
}

/** What a server or a mount needs of it. */
export function handlerOf({ root, feed, basePath, page, beside }: BuiltApi): HttpApi {
  const ours = (given: Request, env: unknown): Response | Promise<Response> => {
    const request = withoutBase(given, basePath)
    return page?.(request) ?? root.fetch(request, env as object)
  }
  const besideFirst = async (given: Request, env: unknown): Promise<Response> => {
    // The one of the Node server cannot do all that a request can.
    const request = new Request(given.url, given)
    return (await beside?.(request)) ?? ours(request, env)
  }
  return {
    fetch: beside === null ? ours : besideFirst,
    stop: () => feed.stop(),
    hasPage: page !== null,
  }
}

interface BuiltApi {
  readonly root: Api
  readonly feed: Feed
  readonly basePath: string
  /** Null for none. */
  readonly page: Page | null
  /** Null where there is nothing beside us; gives null for what is not its own. */
  readonly beside: ((request: Request) => Promise<Response | null>) | null
}

/** `onlyLocal`: nobody has to say who they are, because only this machine can ask. */
export function apiFor(
  mill: Mill,
  options: HttpOptions & { readonly whoIs: WhoIs; readonly onlyLocal: boolean },
): BuiltApi {
  const { platform = systemPlatform, onError = toStandardError } = options
  const redacted = redactor(options.redact ?? SECRET_KEYS)
  const feed = createFeed(mill, platform)
  const tools: RouteTools = {
    mill,
    redacted,
    feed,
    unserved: remembered(platform, REMEMBERED_MS, () => mill.unserved()),
    system: remembered(platform, REMEMBERED_MS, () => mill.system()),
    findings: remembered(platform, REMEMBERED_MS, () => mill.findings()),
    errors: rememberedBy(platform, REMEMBERED_MS, (query) => mill.errors(query)),
    version: VERSION,
    store: mill.storeName,
  }
  const root = newApi()
  root.use(
    ...door({
      ...options,
      ...bodyBounds(options),
      requestsPerSecond: options.requestsPerSecond ?? REQUESTS_PER_SECOND,
      strangersPerSecond: options.strangersPerSecond ?? STRANGERS_PER_SECOND,
      now: () => platform.monotonic(),
      platform,
    }),
  )
  root.use(
    audited({
      mill,
      redacted,
      failed: (error, row) => onError(error, `the audit of ${JSON.stringify(row)}`),
    }),
  )
  root.notFound(() => problem('ROUTE_UNKNOWN'))
  root.onError((error, c) => {
    if (error instanceof HTTPException)
      return problem('BODY_NOT_JSON', { detail: 'the body is not JSON', fix: 'Send one JSON value' })
    const unforeseen = (fault: unknown): void => onError(fault, `${c.req.method} ${c.req.path}`)
    return problemOf(error, { unforeseen, inAddress: isRead(c.req.method) })
  })
  const api = newApi()
  for (const add of [...ROUTES, appRoutes(checkApps(options.apps ?? {}))]) add(api, tools)
  root.route('/api', api)
  healthRoutes(root, mill)
  root.openAPIRegistry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' })
  // Written once: nobody has to say who they are to ask for it, so it must cost nothing.
  let document: string | null = null
  root.get('/api/openapi.json', (c) => {
    document ??= JSON.stringify(root.getOpenAPI31Document(DOCUMENT))
    return c.body(document, 200, { 'content-type': 'application/json' })
  })
  const basePath = checkBasePath(options.basePath ?? '')
  const given = checkBeside(options.beside)
  return {
    root,
    feed,
    basePath,
    page: options.page === false ? null : missionControl(basePath),
    beside: given === undefined ? null : (request) => answerBeside(given, request, onError),
  }
}

const DOCUMENT = { openapi: '3.1.0', info: { title: 'Jobmill', version: VERSION } }

function bodyBounds({
  maxBodyBytes = MAX_BODY_BYTES,
  maxBodiesBytes = MAX_BODIES * maxBodyBytes,
}: HttpOptions): Pick<DoorOptions, 'maxBodyBytes' | 'maxBodiesBytes'> {
  if (maxBodiesBytes >= maxBodyBytes) return { maxBodyBytes, maxBodiesBytes }
  throw new JobmillError('OPTION_CONFLICT', `a body of maxBodyBytes (${maxBodyBytes}) would never fit`, {
    field: 'maxBodiesBytes',
    value: shown(maxBodiesBytes),
    fix: 'Pass at least maxBodyBytes, or omit it',
  })
}

const ROUTES = [
  overviewRoutes,
  jobRoutes,
  jobActRoutes,
  bulkRoutes,
  errorRoutes,
  queueRoutes,
  scheduleRoutes,
  limitRoutes,
  workerRoutes,
  systemRoutes,
  historyRoutes,
  eventRoutes,
]

function whoIsOf({ tokens, whoIs, insecure = false }: HttpOptions): WhoIs {
  if (whoIs !== undefined) return whoIs
  if (tokens !== undefined) {
    const known = readTokens(tokens, 'tokens')
    return (request) => holderOf(known, bearerOf(request))
  }
  if (insecure) return () => ({ name: 'anybody', role: 'admin' })
  throw new JobmillError('OPTION_INVALID', 'nobody could come in, or everybody', {
    field: 'tokens',
    fix: 'Give tokens or whoIs, or insecure: true where nobody else can reach it',
  })
}

function toStandardError(error: unknown, what: string): void {
  process.stderr.write(
    `jobmill error ${what}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  )
}
