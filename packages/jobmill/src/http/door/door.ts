/** The door of the API: who comes in, from where, how often, and with how much. Everything is decided here, on the server. */
import type { MiddlewareHandler } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import type { Env } from '../env.ts'
import { problem } from '../problem.ts'
import { mayDo, type Role, type Who } from './roles.ts'
import type { Platform } from '../../platform/platform.ts'
import { bodyReader } from './body.ts'
import { byteBudget } from './byte-budget.ts'
import { pace } from './pace.ts'
import { isRead } from './reads.ts'

export interface DoorOptions {
  /** Who a request is from; null for nobody that is known. */
  readonly whoIs: WhoIs
  /** Nobody has to say who they are, so it matters how they got here: only by a name of this machine. */
  readonly onlyLocal: boolean
  readonly maxBodyBytes: number
  readonly maxBodiesBytes: number
  readonly requestsPerSecond: number
  readonly strangersPerSecond: number
  readonly now: () => number
  readonly platform: Platform
}

export type WhoIs = (request: Request) => Who | null | Promise<Who | null>

const OWN_SITES = ['same-origin', 'none']
const LOCAL = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i

/** In their order. */
export function door(options: DoorOptions): MiddlewareHandler<Env>[] {
  return [
    secureHeaders({
      contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
      referrerPolicy: 'no-referrer',
      // Whether there is TLS is the business of whoever stands in front.
      strictTransportSecurity: false,
      xFrameOptions: 'DENY',
    }),
    notKept,
    sameOrigin(options.onlyLocal),
    identified(options),
    paced(options),
    offersBody(options),
  ]
}

/** A body is read by the route, once the role of the caller is enough for it. */
function offersBody({ maxBodyBytes, maxBodiesBytes, platform }: DoorOptions): MiddlewareHandler<Env> {
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
    if (who === null) return stranger(c.req.header('authorization'))
    if (!mayDo(who, role))
      return problem('FORBIDDEN', { detail: `this takes the role ${role}, and ${who.name} is ${who.role}` })
    return next()
  }
}

function stranger(authorization: string | undefined): Response {
  if (authorization === undefined)
    return problem('TOKEN_MISSING', {
      detail: 'nobody is known who asks',
      fix: 'Say who you are: with authorization: Bearer TOKEN, unless this server has a way of its own',
    })
  return problem('TOKEN_UNKNOWN', {
    detail: 'this token is not known',
    field: 'authorization',
    fix: 'Send Bearer and one of the tokens that this server was started with',
  })
}

/**
 * A browser says which page a request comes from. Without tokens any page that somebody opens on this machine could ask us, also under a name that it has
 * pointed at 127.0.0.1.
 */
function sameOrigin(onlyLocal: boolean): MiddlewareHandler<Env> {
  return async (c, next) => {
    const host = c.req.header('host') ?? ''
    if (onlyLocal && !LOCAL.test(host))
      return problem('ORIGIN_WRONG', {
        detail: 'without tokens this answers to localhost only',
        field: 'host',
      })
    const origin = c.req.header('origin')
    const site = c.req.header('sec-fetch-site')
    const isForeign =
      (origin !== undefined && !isOf(origin, host)) || (site !== undefined && !OWN_SITES.includes(site))
    if (isForeign && !isRead(c.req.method)) return problem('ORIGIN_WRONG')
    return next()
  }
}

function isOf(origin: string, host: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host
}

function identified({ whoIs }: DoorOptions): MiddlewareHandler<Env> {
  return async (c, next) => {
    c.set('who', await whoIs(c.req.raw))
    return next()
  }
}

/** Those who are not known share what there is for their address, which is little: they can only be guessing. */
function paced({ requestsPerSecond, strangersPerSecond, now }: DoorOptions): MiddlewareHandler<Env> {
  const known = pace({ perSecond: requestsPerSecond, now })
  const probes = pace({ perSecond: requestsPerSecond, now })
  const unknown = pace({ perSecond: strangersPerSecond, now })
  return async (c, next) => {
    const who = c.get('who')
    const address = c.env?.incoming?.socket.remoteAddress ?? ''
    // Whoever runs the process asks these without a token, and nobody else's asking may be in their way.
    const isProbe = c.req.path === '/healthz' || c.req.path === '/readyz'
    const inMs = who !== null ? known(who.name) : isProbe ? probes(address) : unknown(address)
    if (inMs > 0) return problem('TOO_MANY', { retryAfter: Math.ceil(inMs / 1_000) })
    return next()
  }
}
