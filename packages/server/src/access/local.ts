/**
 * Local mode: without authentication every caller is an admin, so only direct requests from this machine are
 * allowed. A proxy on this machine looks like a local caller; these checks detect most of them.
 * docs/operate/security.md lists the limits.
 */
import type { Env } from '../env.ts'
import { problem } from '../problem.ts'
import { isSentByClients } from './client-headers.ts'

/**
 * Which requests are allowed without authentication: `any`, `loopback-names` (only under a loopback name,
 * against DNS rebinding), or `this-machine` (only direct requests from this machine).
 */
export type Callers = 'any' | 'loopback-names' | 'this-machine'

export type Incoming = Env['Bindings']['incoming']

const LOOPBACK_NAME = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/i
const CONFIGURE = 'Set JOBMILL_TOKENS, or pass tokens or authenticate, to allow access through a proxy'
const LOOPBACK_ADDRESS = /^(?:(?:::ffff:)?127\.\d+\.\d+\.\d+|::1)$/i

/** Returns null if the request may continue. */
export function refuseOutsiders(callers: Callers, request: Request, incoming: Incoming): Response | null {
  if (callers === 'any') return null
  const { name, port } = hostOf(request)
  if (!LOOPBACK_NAME.test(name))
    return refuse('the Host header is neither localhost nor a loopback address', 'host')
  if (!isTargetOf(request)) return refuse('the request target and the Host header name different hosts')
  return callers === 'loopback-names' ? null : refuseProxies(request, { name, port }, incoming)
}

type Host = ReturnType<typeof hostOf>

function refuseProxies(request: Request, { name, port }: Host, incoming: Incoming): Response | null {
  const added = [...request.headers.keys()].find((header) => !isSentByClients(header))
  if (added !== undefined)
    return problem('NOT_LOCAL', {
      detail: `no authentication configured, and the request may have come through a proxy: browsers and curl do not send the header ${added}`,
      field: added,
      fix: `${CONFIGURE}. Omit this header if your own client sends it`,
    })
  const { remoteAddress = '', localAddress = '', localPort } = incoming?.socket ?? {}
  if (!LOOPBACK_ADDRESS.test(remoteAddress)) return refuse('the caller is not on this machine')
  // Some proxies use HTTP/1.0 by default, which browsers and curl no longer do.
  if (incoming?.httpVersion === '1.0')
    return refuse('the request may have come through a proxy (it is HTTP/1.0)')
  const isOurName = name.toLowerCase() === 'localhost' || bare(name) === bare(localAddress)
  if (isOurName && port === localPort) return null
  return refuse('the Host header does not name the address and port of this server', 'host', localPort)
}

/**
 * Clients send absolute targets (`GET http://other.example/ HTTP/1.1`) to proxies. The request URL then has
 * the host of the target.
 */
function isTargetOf(request: Request): boolean {
  const host = `http://${request.headers.get('host') ?? ''}`
  return URL.canParse(host) && new URL(request.url).host === new URL(host).host
}

/** A Host header without a port means 80. */
function hostOf(request: Request) {
  const [, name = '', port = '80'] = /^(.*?)(?::(\d+))?$/.exec(request.headers.get('host') ?? '') ?? []
  return { name, port: Number(port) }
}

function bare(address: string): string {
  return address.replace(/^\[(.*)\]$/, '$1').replace(/^::ffff:/i, '')
}

function refuse(detail: string, field?: string, port?: number): Response {
  const forward =
    port === undefined ? '' : `; with ssh -L, forward the same port: ssh -L ${port}:127.0.0.1:${port}`
  return problem('NOT_LOCAL', {
    detail: `no authentication configured, and ${detail}`,
    field,
    fix: `${CONFIGURE}${forward}`,
  })
}
