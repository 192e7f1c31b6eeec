/** The door of the API: who comes in, from where, how often, and with how much. Everything is decided here, on the server. */
import type { MiddlewareHandler } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import { isAnswer, ownAnswer } from '../apps.ts'
import type { Env } from '../env.ts'
import { problem } from '../problem.ts'
import { mayDo, type Role } from './roles.ts'
import { anonymous, type Identity } from './identity.ts'
import type { Platform } from '../../platform/platform.ts'
import { bodyReader } from './body.ts'
import { byteBudget } from './byte-budget.ts'
import { type Callers, refuseOutsiders } from './local.ts'
import { pace } from './request-rate.ts'
import { isRead } from './reads.ts'

export interface AccessOptions {
  readonly identity: Identity
  /** Which requests are answered at all, where nobody has to say who they are. */
  readonly callers: Callers
  readonly maxBodyBytes: number
  readonly maxBodiesBytes: number
  readonly requestsPerSecond: number
  readonly anonymousPerSecond: number
  readonly now: () => number
  readonly platform: Platform
}

const OWN_SITES = ['same-origin', 'none']

/** In their order. */
export function accessControl(options: AccessOptions): MiddlewareHandler<Env>[] {
  return [
    secureHeaders({
      contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
      referrerPolicy: 'no-referrer',
      // Whether there is TLS is the business of whoever stands in front.
      strictTransportSecurity: false,
      xFrameOptions: 'DENY',
    }),
    notKept,
    reachable(options.callers),
    sameOrigin,
    identified(options),
    paced(options),
    offersBody(options),
  ]
}

/** A body is read by the route, once the role of the caller is enough for it. */
function offersBody({ maxBodyBytes, maxBodiesBytes, platform }: AccessOptions): MiddlewareHandler<Env> {
  const readBody = bodyReader({ maxBodyBytes, budget: byteBudget(maxBodiesBytes), platform })
  return async (c, next) => {
    c.set('readBody', readBody)
    return next()
  }
}

/** Answers are of the moment, and of whoever asked. */
const notKept: MiddlewareHandler<Env> = async (c, next) => {
  await next()
  c.res.headers.set('cache-control', 'no-store')
}

/** For a route: nobody comes further whose role is not enough. */
export function allow(role: Role): MiddlewareHandler<Env> {
  return async (c, next) => {
    const who = c.get('who')
    if (who === null) return anonymous(c.get('identity'), c.req.header('authorization'))
    if (!mayDo(who, role))
      return problem('FORBIDDEN', { detail: `this takes the role ${role}, and ${who.name} is ${who.role}` })
    return next()
  }
}

function reachable(callers: Callers): MiddlewareHandler<Env> {
  return async (c, next) => refuseOutsiders(callers, c.req.raw, c.env?.incoming) ?? next()
}

/** A browser says which page a request comes from. Without tokens any page that somebody opens on this machine could ask us. */
const sameOrigin: MiddlewareHandler<Env> = async (c, next) => {
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

function identified({ identity }: AccessOptions): MiddlewareHandler<Env> {
  return async (c, next) => {
    c.set('identity', identity)
    // A probe is never asked who it is: a host application would send it to its login.
    const who = isProbe(c.req.path) ? null : await identity.authenticate(c.req.raw)
    if (isAnswer(who)) return ownAnswer(who)
    c.set('who', who)
    return next()
  }
}

/** The process manager asks these without a token, and no other caller may be in its way. */
function isProbe(path: string): boolean {
  return path === '/healthz' || path === '/readyz'
}

/** Those who are not known share what there is for their address, which is little: they can only be guessing. */
function paced({ requestsPerSecond, anonymousPerSecond, now }: AccessOptions): MiddlewareHandler<Env> {
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
