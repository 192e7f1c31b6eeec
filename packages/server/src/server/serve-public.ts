/**
 * Serves routes of an application on a port of their own, with probes but without the API and Mission
 * Control, so that a proxy can expose them.
 */
import { secureHeaders } from 'hono/secure-headers'
import type { Mill, Platform } from 'jobmill'
import { checkFunction, checkObjectKeys, checkPlatform } from 'jobmill/internal'
import { systemPlatform } from 'jobmill/store'
import { newApi } from '../app.ts'
import { answerPassthrough, type Passthrough, ROUTES_FIX } from '../passthrough.ts'
import type { Env } from '../env.ts'
import { checkAddress } from './address.ts'
import { checkOnError, toStandardError } from '../options.ts'
import { problem } from '../problem.ts'
import { probeRoutes } from '../routes/observe/health.ts'
import type { Served } from './serve.ts'
import { listenUntilStop } from './socket.ts'

export interface ServePublicOptions {
  /**
   * Answers a request, or returns null for an unknown route: `inbox.fetch`. It does its own authentication.
   */
  readonly routes: Passthrough
  /** 0 for any free port. */
  readonly port: number
  /** The address to listen on (default 127.0.0.1). */
  readonly bind?: string
  /** Receives internal errors (default: standard error). */
  readonly onError?: (error: unknown, what: string) => void
  readonly platform?: Platform
}

const KEYS = ['routes', 'port', 'bind', 'onError', 'platform'] satisfies (keyof ServePublicOptions)[]

export async function servePublic(
  mill: Pick<Mill<never>, 'readiness'>,
  options: ServePublicOptions,
): Promise<Served> {
  checkObjectKeys(options, 'options', KEYS)
  const { port, bind = '127.0.0.1', onError = toStandardError, platform = systemPlatform } = options
  checkAddress(port, bind)
  checkOnError(onError, 'onError')
  checkPlatform(platform)
  const { routes } = options
  checkFunction(routes, 'routes', ROUTES_FIX)
  const probes = newApi()
  probes.use(secureHeaders({ strictTransportSecurity: false }))
  probes.notFound(() => problem('ROUTE_UNKNOWN'))
  probeRoutes(probes, mill)
  const listening = await listenUntilStop(mill, {
    port,
    bind,
    async fetch(given, env) {
      const { incoming } = env as Env['Bindings']
      const request = new Request(given.url, given)
      return (await answerPassthrough(routes, request, incoming, onError)) ?? probes.fetch(request)
    },
    slowBodies: true,
    platform,
  })
  return { ...listening, hasPage: false, warnings: [] }
}
