/** The HTTP API as a fetch handler: for our own server, or mounted into yours. */
import type { Mill } from 'jobmill'
import { cache, cacheBy, renewed, VERSION } from 'jobmill/internal'
import { systemPlatform } from 'jobmill/store'
import { HTTPException } from 'hono/http-exception'
import { newApi, type RouteTools, seesAll } from './app.ts'
import { auditChanges } from './audited.ts'
import { checkBasePath, withoutBase } from './server/base-path.ts'
import { answerPassthrough } from './passthrough.ts'
import { type Access, accessControl } from './access/access-control.ts'
import { hostInvalid } from './access/host.ts'
import { identityOf, refusePage } from './access/identity.ts'
import { refuseOutsiders } from './access/local.ts'
import { isRead } from './access/reads.ts'
import { largeReads } from './access/large-reads.ts'
import type { Env } from './env.ts'
import { feed as createFeed } from './feed.ts'
import { checkFrameAncestors } from './server/framing.ts'
import { checkHttpOptions, type HttpOptions, settingsOf, toStandardError } from './options.ts'
import { missionControl } from './page.ts'
import { problem, problemOf } from './problem.ts'
import { SECRET_KEYS } from './redact/redact-keys.ts'
import { redactor } from './redact/redact.ts'
import { FILES } from './routes/all.ts'
import { metricsRoutes, probeRoutes } from './routes/observe/health.ts'

export interface HttpApi {
  /**
   * Handles `/api/…`, `/metrics`, `/healthz`, `/readyz` and Mission Control, below `basePath` if one is set.
   */
  readonly fetch: (request: Request, env?: unknown) => Response | Promise<Response>
  /** Ends all event streams, so that a server can close. */
  readonly stop: () => void
  /** Whether Mission Control is served. */
  readonly hasPage: boolean
}

/** How long expensive answers are cached. */
const CACHED_MS = 5_000
/**
 * The diagnostics read more than any other request, and cover the last 10 minutes. Most answers contain a
 * part of them, so only the first caller after a while waits for them.
 */
const HEALTH_CACHED = { forMs: 15_000, staleMs: 15_000 }
/** A page with payloads has up to 4 MiB of JSON, which takes several times that while it is built. */
const PAGES_AT_ONCE = 2
const JOBS_AT_ONCE = 4
/** A search in payloads keeps the database busy for up to a second per request. */
const SEARCHES_AT_ONCE = 1

export function httpApi(mill: Mill<never>, options: HttpOptions): HttpApi {
  checkHttpOptions(options)
  const api = handlerFor(mill, options, {
    identity: identityOf(options, options.onError ?? toStandardError),
    callers: 'any',
  })
  // A host server may pass on an invalid Host header as part of the URL.
  return {
    ...api,
    fetch: (request, env) => (URL.canParse(request.url) ? api.fetch(request, env) : hostInvalid()),
  }
}

/** Builds the handler for a server or a mount with the given access rules. */
export function handlerFor(mill: Mill<never>, options: HttpOptions, access: Access): HttpApi {
  const { onError = toStandardError, passthrough } = options
  const basePath = checkBasePath(options.basePath ?? '')
  const frameAncestors = checkFrameAncestors(options.frameAncestors)
  const { root, feed } = apiFor(mill, options, access)
  const page = options.page === false ? null : missionControl(basePath, frameAncestors)
  async function answerOurs(given: Request, env: Env['Bindings'] | undefined): Promise<Response> {
    const request = withoutBase(given, basePath)
    const shown = page?.(request) ?? null
    if (shown === null) return root.fetch(request, env)
    try {
      const outsider = refuseOutsiders(access.callers, request, env?.incoming)
      const refusal = outsider ?? (await refusePage(access.identity, request))
      return refusal ?? shown
    } catch (error) {
      onError(error, `${request.method} ${new URL(request.url).pathname}`)
      return problem('INTERNAL')
    }
  }
  return {
    async fetch(given, env) {
      const bindings = env as Env['Bindings'] | undefined
      // No Request can have the method TRACE.
      if (passthrough === undefined || given.method === 'TRACE') return answerOurs(given, bindings)
      // The request object of the Node adapter lacks some methods of a real Request.
      const request = new Request(given.url, given)
      const answer = await answerPassthrough(passthrough, request, bindings?.incoming, onError)
      return answer ?? answerOurs(request, bindings)
    },
    stop: () => feed.stop(),
    hasPage: page !== null,
  }
}

export function apiFor(mill: Mill, options: HttpOptions, access: Access) {
  const { platform = systemPlatform, onError = toStandardError } = options
  const settings = settingsOf(options)
  const redacted = redactor(options.redact ?? SECRET_KEYS)
  const feed = createFeed(mill, platform)
  const tools: RouteTools = {
    mill,
    settings,
    redactFor: (who, value) => (seesAll(who) ? value : redacted(value)),
    feed,
    pageReads: largeReads(platform, PAGES_AT_ONCE),
    searchReads: largeReads(platform, SEARCHES_AT_ONCE),
    jobReads: largeReads(platform, JOBS_AT_ONCE),
    queueNames: cache(platform, CACHED_MS, async () => (await mill.queues()).map(({ name }) => name)),
    unservedKinds: cache(platform, CACHED_MS, () => mill.unservedKinds()),
    recentRuns: cache(platform, CACHED_MS, () => mill.recentRuns()),
    capacity: cache(platform, CACHED_MS, () => mill.capacity()),
    system: cache(platform, CACHED_MS, () => mill.system()),
    health: renewed(platform, HEALTH_CACHED, () => mill.health()),
    errors: cacheBy(platform, CACHED_MS, (query) => mill.errors(query)),
    now: () => platform.monotonic(),
  }
  const root = newApi()
  root.use(...accessControl(access, settings, platform))
  root.use(auditChanges(mill, redacted, (error, row) => onError(error, `audit entry ${JSON.stringify(row)}`)))
  root.notFound((c) => {
    // Mission Control answers at the root, unless it is disabled or its package is missing.
    const isPageMissing = options.page !== false && isRead(c.req.method) && c.req.path === '/'
    const fix = isPageMissing
      ? 'Install jobmill-dashboard'
      : `See ${options.basePath ?? ''}/api/openapi.json for all routes`
    return problem('ROUTE_UNKNOWN', { fix })
  })
  root.onError((error, c) => {
    if (error instanceof HTTPException)
      return problem('BODY_NOT_JSON', { detail: 'the body is not valid JSON', fix: 'Send one JSON value' })
    const unforeseen = (fault: unknown): void => onError(fault, `${c.req.method} ${c.req.path}`)
    return problemOf(error, { unforeseen, inAddress: isRead(c.req.method) })
  })
  const api = newApi()
  for (const { routes } of FILES) routes(api, tools)
  root.route('/api', api)
  probeRoutes(root, mill)
  metricsRoutes(root, mill)
  root.openAPIRegistry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' })
  // Generated once: anonymous callers may request the document, so it must be cheap.
  let document: string | null = null
  root.get('/api/openapi.json', (c) => {
    document ??= JSON.stringify(root.getOpenAPI31Document(DOCUMENT))
    return c.body(document, 200, { 'content-type': 'application/json' })
  })
  return { root, feed }
}

const DOCUMENT = { openapi: '3.1.0', info: { title: 'Jobmill', version: VERSION } }
