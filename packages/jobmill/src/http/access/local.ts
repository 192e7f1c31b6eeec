/**
 * Local mode: without authentication every caller is an admin, so only requests that come straight from this machine are answered. A proxy on this machine
 * looks like a local caller. What gives it away is checked here; what cannot be told apart stands in docs/operate/security.md.
 */
import type { Env } from '../env.ts'
import { problem } from '../problem.ts'

/**
 * Who may ask without authentication: `any` (whoever can reach the socket), `loopback-names` (only under a loopback name, against DNS rebinding) or
 * `this-machine` (only straight from this machine).
 */
export type Callers = 'any' | 'loopback-names' | 'this-machine'

export type Incoming = Env['Bindings']['incoming']

/**
 * Headers that a proxy, a tunnel or a content delivery network adds, and no client of this machine: `X-Forwarded-For`, `Remote-User`, `CF-Ray`. Names are
 * compared with dashes for underscores, and without the prefixes `X-` and `HTTP-`, since proxies and application servers spell them in every way.
 */
const ADDED_BY_PROXIES = new RegExp(
  `^(?:${[
    'forward',
    'via$',
    '(?:true-|cluster-|original-)?client-(?:ip|host|port|cert|dn|verify)',
    '(?:real|remote|proxy|proxied|original|originating|ssl|tls|nginx|envoy|arr|haproxy|varnish|squid|traefik|caddy|kong|istio)-',
    'front-end-',
    'url-scheme$',
    'cdn-',
    '(?:cf|fastly|fly|akamai|ngrok|tailscale|vercel|azure|appengine|cloud-trace|amz|amzn|goog|ms-client|netlify|render|railway|heroku|tunnel)-',
    // Of proxies that sign people in.
    '(?:auth-request|authentik|authelia|webauth|authenticated|pomerium|oidc|oauth|saml|jwt)-',
  ].join('|')})`,
)
/** These mean something else without their `X-`. */
const ADDED_WITH_X =
  /^x-(?:host|scheme|proto|port|https|server-name|script-name|request-start|accel|sendfile|user|email|groups?|auth-(?:user|email|name|groups?))(?:-|$)/

/**
 * The rule for names that no list has: what names a proxy, or passes on an address or a target, says so in one of its words. Proxies join words too
 * (`X-ProxyUser-Ip`, `X-ClientIP`), so some are looked for within words.
 */
const WORDS_OF_PROXIES = new RegExp(
  [
    'forward|prox(?:y|ie)|surrogate|rewrite|varnish|squid|upstream|ingress|gateway|balancer',
    '(?:client|user|real|remote|peer|source|origin)-?(?:ip|addr)',
    '(?:^|-)(?:ip|ips|addr|address|via|cdn|waf|edge)(?:-|$)',
    '-host(?:-|$)',
  ].join('|'),
)

function isAddedByProxies(header: string): boolean {
  const name = header.replaceAll('_', '-')
  return (
    ADDED_WITH_X.test(name) ||
    WORDS_OF_PROXIES.test(name) ||
    ADDED_BY_PROXIES.test(name.replace(/^(?:http-)?(?:x-)?/, ''))
  )
}

const LOOPBACK_NAME = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/i
const LOOPBACK_ADDRESS = /^(?:(?:::ffff:)?127\.\d+\.\d+\.\d+|::1)$/i

/** Null for a request that may go on. */
export function refuseOutsiders(callers: Callers, request: Request, incoming: Incoming): Response | null {
  if (callers === 'any') return null
  const { name, port } = hostOf(request)
  if (!LOOPBACK_NAME.test(name)) return refused('only loopback names are answered', 'host')
  if (!isTargetOf(request)) return refused('the request target names another host than the Host header')
  return callers === 'loopback-names' ? null : refuseProxies(request, { name, port }, incoming)
}

interface Host {
  readonly name: string
  readonly port: number
}

function refuseProxies(request: Request, { name, port }: Host, incoming: Incoming): Response | null {
  const added = [...request.headers.keys()].find(isAddedByProxies)
  if (added !== undefined)
    return refused(`the request came through a proxy (it has the header ${added})`, added)
  const { remoteAddress = '', localAddress = '', localPort } = incoming?.socket ?? {}
  if (!LOOPBACK_ADDRESS.test(remoteAddress)) return refused('the caller is not on this machine')
  // Proxies speak HTTP/1.0 to their upstream where nobody says otherwise; browsers and curl have not for decades.
  if (incoming?.httpVersion === '1.0') return refused('the request came through a proxy (it is HTTP/1.0)')
  const isOurName = name.toLowerCase() === 'localhost' || bare(name) === bare(localAddress)
  if (isOurName && port === localPort) return null
  return refused(`the Host header does not name the address that this server is bound to`, 'host', localPort)
}

/** Clients send absolute targets (`GET http://other.example/ HTTP/1.1`) to proxies; the URL of the request then names the host of the target. */
function isTargetOf(request: Request): boolean {
  const host = `http://${request.headers.get('host') ?? ''}`
  return URL.canParse(host) && new URL(request.url).host === new URL(host).host
}

/** A Host header without a port means 80. */
function hostOf(request: Request): Host {
  const [, name = '', port = '80'] = /^(.*?)(?::(\d+))?$/.exec(request.headers.get('host') ?? '') ?? []
  return { name, port: Number(port) }
}

function bare(address: string): string {
  return address.replace(/^\[(.*)\]$/, '$1').replace(/^::ffff:/i, '')
}

function refused(detail: string, field?: string, port?: number): Response {
  const forward =
    port === undefined ? '' : `; with ssh -L, forward the same port: ssh -L ${port}:127.0.0.1:${port}`
  return problem('NOT_LOCAL', {
    detail: `no authentication is configured, and ${detail}`,
    field,
    fix: `Set JOBMILL_TOKENS, or pass tokens or authenticate, to be reached through a proxy${forward}`,
  })
}
