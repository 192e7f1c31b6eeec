/** Access control of the API: checks the caller, origin, request rate and body size of every request. */
import type { MiddlewareHandler } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import { isAnswer, ownAnswer } from '../apps.ts'
import type { Env } from '../env.ts'
import type { Settings } from '../options.ts'
import { problem } from '../problem.ts'
import type { Platform } from 'jobmill'
import { mayDo, type Role } from 'jobmill/internal'
import { anonymous, type Identity } from './identity.ts'
import { bodyReader } from './body.ts'
import { type Callers, refuseOutsiders } from './local.ts'
import { pace } from './request-rate.ts'
import { isRead } from './reads.ts'

/** The access rules that are derived from the options. */
export interface Access {
  readonly identity: Identity
  /** Which requests are allowed if no authentication is configured. */
  readonly callers: Callers
}

const OWN_SITES = ['same-origin', 'none']

/** The middleware, in order. */
export function accessControl(
  { identity, callers }: Access,
  settings: Settings,
  platform: Platform,
): MiddlewareHandler<Env>[] {
  const readBody = bodyReader(settings, platform)
  return [
    secureHeaders({
      contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
      referrerPolicy: 'no-referrer',
      // TLS is the responsibility of the proxy in front.
      strictTransportSecurity: false,
      xFrameOptions: 'DENY',
    }),
    noStore,
    async (c, next) => refuseOutsiders(callers, c.req.raw, c.env?.incoming) ?? next(),
    refuseCrossOrigin,
    authenticateCaller(identity),
    limitRate(settings, platform),
    // The route reads the body after it has checked the caller's role.
    async (c, next) => {
      c.set('readBody', readBody)
      return next()
    },
  ]
}

/** Responses depend on the caller and the moment, so they must not be cached. */
const noStore: MiddlewareHandler<Env> = async (c, next) => {
  await next()
  c.res.headers.set('cache-control', 'no-store')
}

/** Requires a role for a route. */
export function allow(role: Role): MiddlewareHandler<Env> {
  return async (c, next) => {
    const who = c.get('who')
    if (who === null) return anonymous(c.get('identity'), c.req.header('authorization'))
    if (!mayDo(who, role))
      return problem('FORBIDDEN', { detail: `requires the role ${role} (${who.name} is ${who.role})` })
    return next()
  }
}

/**
 * Refuses changes from pages of another origin. Without tokens, any page in a local browser could send them.
 */
const refuseCrossOrigin: MiddlewareHandler<Env> = async (c, next) => {
  const origin = c.req.header('origin')
  const site = c.req.header('sec-fetch-site')
  const isForeign =
    (origin !== undefined && !isOf(origin, c.req.header('host') ?? '')) ||
    (site !== undefined && !OWN_SITES.includes(site))
  if (isForeign && !isRead(c.req.method)) return problem('ORIGIN_WRONG')
  return next()
}

function isOf(origin: string, host: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host
}

function authenticateCaller(identity: Identity): MiddlewareHandler<Env> {
  return async (c, next) => {
    c.set('identity', identity)
    // Probes are not authenticated: a host application would redirect them to its login.
    const who = isProbe(c.req.path) ? null : await identity.authenticate(c.req.raw)
    if (isAnswer(who)) return ownAnswer(who)
    c.set('who', who)
    return next()
  }
}

/** Process managers send probes without a token, and other callers must not use up their rate. */
function isProbe(path: string): boolean {
  return path === '/healthz' || path === '/readyz'
}

/** Anonymous callers share a low rate per IP address, because they can only guess tokens. */
function limitRate(
  { requestsPerSecond, anonymousPerSecond }: Settings,
  platform: Platform,
): MiddlewareHandler<Env> {
  const now = (): number => platform.monotonic()
  const known = pace({ perSecond: requestsPerSecond, now })
  const probes = pace({ perSecond: requestsPerSecond, now })
  const unknown = pace({ perSecond: anonymousPerSecond, now })
  return async (c, next) => {
    const who = c.get('who')
    const address = c.env?.incoming?.socket.remoteAddress ?? ''
    const inMs = who !== null ? known(who.name) : isProbe(c.req.path) ? probes(address) : unknown(address)
    if (inMs > 0) return problem('TOO_MANY', { retryAfter: Math.ceil(inMs / 1_000) })
    return next()
  }
}
