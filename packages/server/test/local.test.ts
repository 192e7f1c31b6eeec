/** Without authentication only direct requests from this machine are answered, tested over a real socket. */
import { once } from 'node:events'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { anyCharacter } from '../../../test/support/any-character.ts'
import { freshFile } from '../../../test/support/databases.ts'
import { inFull } from '../../../test/support/suite/in-full.ts'
import { httpApi, serve, servePublic } from '../src/index.ts'
import { refuseOutsiders } from '../src/access/local.ts'
import { listenOn } from '../src/server/socket.ts'
import { jobmill } from '../../jobmill/src/index.ts'
import { systemPlatform } from '../../jobmill/src/store.ts'
import type { ByOption } from '../../jobmill/src/internal.ts'
import { sqlite } from '../../jobmill/src/sqlite.ts'
import { rejection } from '../../jobmill/test/unit/support.ts'
import { bench, TOKENS, tokenOf } from './mills.ts'
import { connected, exchange } from './raw.ts'

const memory = (): ReturnType<typeof sqlite> => sqlite(':memory:')
const FORWARDED = ['X-Forwarded-For: 203.0.113.7', 'X-Forwarded-Proto: https']

/** PORT is replaced by the port of the server. */
const DIRECT: readonly (readonly [string, string, readonly string[]])[] = [
  ['a browser at the address', '1.1', ['Host: 127.0.0.1:PORT']],
  ['curl at localhost', '1.1', ['Host: localhost:PORT', 'User-Agent: curl/8.5.0']],
  [
    'a browser with all that it sends',
    '1.1',
    [
      'Host: localhost:PORT',
      'User-Agent: Mozilla/5.0',
      'Accept-Language: en',
      'Sec-Fetch-Site: same-origin',
      'Sec-CH-UA-Platform: "Linux"',
      'Upgrade-Insecure-Requests: 1',
      'Viewport-Width: 1200',
      'Cookie: theme=dark',
      'X-Requested-With: XMLHttpRequest',
      'X-Request-Id: 1',
      'X-Correlation-Id: 1',
      'X-CSRF-Token: 1',
      'DNT: 1',
      'Sec-GPC: 1',
      'Idempotency-Key: ship-1',
      'Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      'Priority: u=0, i',
    ],
  ],
  ['ssh -L with the same port', '1.1', ['Host: localhost:PORT']],
]

const PROXIED: readonly (readonly [string, string, readonly string[]])[] = [
  ['nginx as it comes', '1.0', ['Host: 127.0.0.1:PORT', 'Connection: close']],
  ['nginx as it comes, a named upstream', '1.0', ['Host: jobmill_api', 'Connection: close']],
  ['nginx with HTTP/1.1 and a named upstream', '1.1', ['Host: jobmill_api']],
  ['nginx with Host $host, asked for its name', '1.1', ['Host: jobs.example.com']],
  ['nginx with Host $host, asked for localhost', '1.1', ['Host: localhost']],
  ['nginx with X-Real-IP', '1.1', ['Host: localhost:PORT', 'X-Real-IP: 203.0.113.7']],
  [
    'Caddy',
    '1.1',
    ['Host: localhost:PORT', ...FORWARDED, 'X-Forwarded-Host: jobs.example.com', 'Via: 1.1 Caddy'],
  ],
  [
    'Traefik',
    '1.1',
    ['Host: localhost:PORT', ...FORWARDED, 'X-Forwarded-Server: edge', 'X-Real-Ip: 203.0.113.7'],
  ],
  ['Apache', '1.1', ['Host: 127.0.0.1:PORT', ...FORWARDED, 'X-Forwarded-Server: www.example.com']],
  ['haproxy, asked for localhost', '1.1', ['Host: localhost']],
  ['haproxy with option forwardfor', '1.1', ['Host: localhost:PORT', 'X-Forwarded-For: 203.0.113.7']],
  [
    'cloudflared',
    '1.1',
    ['Host: localhost:PORT', 'Cf-Ray: 8f1', 'Cf-Connecting-Ip: 203.0.113.7', 'Cdn-Loop: cloudflare'],
  ],
  ['a proxy that keeps to RFC 7239', '1.1', ['Host: localhost:PORT', 'Forwarded: for=203.0.113.7']],
  ['a proxy that signs people in', '1.1', ['Host: localhost:PORT', 'Remote-User: ada']],
  [
    'an application server with its own names',
    '1.1',
    ['Host: localhost:PORT', 'X_Forwarded_For: 203.0.113.7'],
  ],
  ['a proxy that names users with X-', '1.1', ['Host: localhost:PORT', 'X-Remote-User: ada']],
  ['a proxy that names users with X_', '1.1', ['Host: localhost:PORT', 'X_Remote_User: ada']],
  ['a proxy that names its users', '1.1', ['Host: localhost:PORT', 'X-Proxy-User: ada']],
  ['a proxy that keeps the name', '1.1', ['Host: localhost:PORT', 'X-Host: jobs.example.com']],
  ['a proxy of Exchange', '1.1', ['Host: localhost:PORT', 'Front-End-Https: on']],
  ['CGI names', '1.1', ['Host: localhost:PORT', 'HTTP_X_FORWARDED_PROTO: https']],
  ['a gateway that signs people in', '1.1', ['Host: localhost:PORT', 'X-Ms-Client-Principal-Name: ada']],
  ['ssh -L with another port', '1.1', ['Host: localhost:1']],
  ['a name that was pointed at this machine', '1.1', ['Host: evil.example:PORT']],
  ['a name that begins like ours', '1.1', ['Host: 127.0.0.1.evil.example:PORT']],
  ['another loopback address', '1.1', ['Host: 127.0.0.2:PORT']],
]

/** Proxies that leave no trace; docs/operate/security.md lists them. */
const UNTOLD: typeof DIRECT = [
  ['nginx 1.29.7 or later as it comes', '1.1', ['Host: 127.0.0.1:PORT']],
  ['haproxy, asked for localhost and our port', '1.1', ['Host: localhost:PORT']],
]

/** Headers of proxies, meshes and gateways, and names that no list could have. */
const ADDED_HEADERS = `
  X-HTTP-Forwarded-For WL-Proxy-Client-IP X-Varnish X-Squid Surrogate-Capability X-Rewrite-URL X-ProxyUser-Ip Max-Forwards
  Ali-Cdn-Real-Ip Http-Client-Ip X-SP-Forwarded-IP X-IMForwards X-Host-Override X-HTTP-Host-Override X-Gateway X-Ingress-Path
  X-Sucuri-ClientIP Incap-Client-IP X-Webobjects-Remote-Addr X-BlueCoat-Via X-Some-Edge-Proxy My_Load_Balancer_Addr X-Clientip
  X-Peer-Address X-New-Cdn-Id Acme-Forwarded-Proto X-Upstream-Name X-Original-URL X-Authenticated-User Client-Cert
  X-SSL X-SSL-Cipher X-SSLClient SSL_CLIENT_VERIFY X-TLSVersion Early-Data X-Unique-ID CloudFront-Viewer-Country
  CloudFront-Forwarded-Proto X-Timer X-Amzn-Trace-Id X-Cloud-Trace-Context X-Azure-Ref X-Proto X-Https X-Port X-Server-Name X-Script-Name X-Request-Start X-Accel-Mapping X-Sendfile-Type
  l5d-dst-canonical l5d-client-id dapr-app-id dapr-caller-app-id Teleport-Jwt-Assertion X-Teleport-Login Sozu-Id SM_USER SM-User SM_AUTHTYPE
  iv-user iv-groups OAM_REMOTE_USER OAM-Identity-Domain Shib-Session-ID Impersonate-User Impersonate-Group MS-ASPNETCORE-TOKEN
  WAS-DEFAULT-HOSTNAME WAS-Client X-Description User Content_Type X-Never-Heard-Of`
  .trim()
  .split(/\s+/)

/** What clients send on their own, and what their users, tracers and plugins commonly add. */
const SENT_BY_CLIENTS: Readonly<Record<string, string>> = {
  Chromium: `Accept Accept-Encoding Accept-Language Cache-Control Connection Cookie DNT Downlink DPR ECT Device-Memory Origin Pragma
    Priority Purpose Range Referer RTT Save-Data Sec-CH-UA Sec-CH-UA-Mobile Sec-CH-UA-Platform Sec-Fetch-Dest Sec-Fetch-Mode
    Sec-Fetch-Site Sec-Fetch-Storage-Access Sec-Fetch-User Sec-GPC Sec-Purpose Service-Worker Service-Worker-Navigation-Preload
    Upgrade-Insecure-Requests User-Agent Viewport-Width Width Available-Dictionary Intervention`,
  Firefox:
    'Accept Accept-Encoding Accept-Language Alt-Used Connection Cookie DNT Priority Sec-GPC TE User-Agent X-Moz',
  'tracers and their agents': `Request-Id Request-Context Correlation-Context Request-Start-Time sw8 X-Dynatrace X-Instana-T
    X-Instana-S X-Instana-L uberctx-user ot-tracer-traceid ot-tracer-spanid ot-tracer-sampled X-NewRelic-ID
    X-NewRelic-Transaction X-Honeycomb-Trace`,
  Django: 'X-CSRFToken',
  caches: 'If-Match If-Modified-Since If-None-Match If-Range If-Unmodified-Since',
  'event streams': 'Accept Cache-Control Last-Event-ID',
  preflights:
    'Access-Control-Request-Headers Access-Control-Request-Method Access-Control-Request-Private-Network',
  'fetch of Node': 'Accept Accept-Encoding Accept-Language Connection Sec-Fetch-Mode User-Agent',
  curl: 'Accept Authorization Content-Type Keep-Alive User-Agent',
  scripts:
    'Accept-Charset Content-Digest Content-Encoding Content-Language Content-MD5 Date Digest From Idempotency-Key Want-Digest',
  Prometheus: 'Accept Accept-Encoding User-Agent X-Prometheus-Scrape-Timeout-Seconds',
  'HTTP clients':
    'Cache-Control Postman-Token X-Requested-With X-CSRF-Token X-XSRF-Token X-HTTP-Method-Override',
  tracers: `Traceparent Tracestate Baggage B3 X-B3-TraceId X-B3-Sampled Sentry-Trace X-Datadog-Trace-Id Newrelic Uber-Trace-Id
    Elastic-Apm-Traceparent X-Request-Id X-Correlation-Id`,
}

const statusOf = async (at: string, target: string): Promise<number> =>
  (await exchange(at, [`GET ${target} HTTP/1.1`, `Host: ${new URL(at).host}`, 'Connection: close'])).status

describe('S2 local mode', () => {
  test('S2 requests that came through a proxy are refused, for the API, its metrics and Mission Control', async () => {
    const { url } = await bench(memory(), { work: false })
    const { port } = new URL(url)
    const ask = async (line: string, version: string, headers: readonly string[]): Promise<number> => {
      const lines = [`${line} HTTP/${version}`, ...headers, 'Connection: close']
      return (
        await exchange(
          url,
          lines.map((one) => one.replace('PORT', port)),
        )
      ).status
    }
    const rows = [
      ...[...DIRECT, ...UNTOLD].map((row) => [...row, 200] as const),
      ...PROXIED.map((row) => [...row, 403] as const),
    ]
    const asked = rows.flatMap(([name, version, headers, expected]) =>
      ['GET /api/overview', 'GET /metrics', 'GET /', 'POST /api/queues/default/pause'].map(async (line) => {
        const status = await ask(line, version, headers)
        return status === expected ? [] : [`${line} through ${name}: ${status}`]
      }),
    )
    const wrong = (await Promise.all(asked)).flat()
    expect(wrong).toEqual([])
    const { text } = await exchange(url, [
      'GET /api/overview HTTP/1.1',
      `Host: localhost:${port}`,
      'Via: 1.1 x',
      'Connection: close',
    ])
    expect(text).toContain('"code":"NOT_LOCAL"')
    expect(text).toContain('JOBMILL_TOKENS')
  })

  test('H5 S2 a header that no client sends on its own is refused, with its name and the fix', async () => {
    const { url } = await bench(memory(), { work: false })
    const { host } = new URL(url)
    const passed: string[] = []
    for (const header of ADDED_HEADERS) {
      const lines = ['GET /api/overview HTTP/1.1', `Host: ${host}`, `${header}: 1`, 'Connection: close']
      const { status, text } = await exchange(url, lines)
      const isNamed = text.includes(`"field":"${header.toLowerCase()}"`) && text.includes('JOBMILL_TOKENS')
      if (status !== 403 || !text.includes('"code":"NOT_LOCAL"') || !isNamed) passed.push(header)
    }
    expect(passed).toEqual([])
  })

  test.each(Object.entries(SENT_BY_CLIENTS))('H5 S2 the headers of %s are allowed', async (_, names) => {
    const { url } = await bench(memory(), { work: false })
    // Not a Range, Origin or condition that fails.
    const values: Readonly<Record<string, string>> = { Origin: url, Connection: 'close', Range: 'bytes=0-' }
    const headers = names.split(/\s+/).map((name) => `${name}: ${values[name] ?? '1'}`)
    const lines = [
      'GET /api/overview HTTP/1.1',
      `Host: ${new URL(url).host}`,
      ...headers,
      'Connection: close',
    ]
    const { status, text } = await exchange(url, lines)
    expect([status, status === 200 ? '' : text]).toEqual([200, ''])
  })

  test('H5 S2 an absolute request target that names another host is refused', async () => {
    const { url } = await bench(memory(), { work: false })
    const insecure = await bench(memory(), { work: false, insecure: true })
    for (const path of ['/', '/api/overview', '/metrics'])
      for (const target of ['http://evil.example', 'https://evil.example', 'http://127.0.0.1:9']) {
        expect([target, path, await statusOf(url, `${target}${path}`)]).toEqual([target, path, 403])
        expect([target, path, await statusOf(insecure.url, `${target}${path}`)]).toEqual([target, path, 403])
      }
    expect(await statusOf(url, `${url}/api/overview`)).toBe(200)
    expect(await statusOf(url, `${url.replace('http', 'HTTP')}/api/overview`)).toBe(400)
  })

  test('S2 a peer that is not loopback is refused, whatever its headers say, and so is a request without a known peer', () => {
    const asked = new Request('http://localhost:8787/', { headers: { host: 'localhost:8787' } })
    const from = (remoteAddress: string): number =>
      refuseOutsiders('this-machine', asked, {
        socket: { remoteAddress, localAddress: '127.0.0.1', localPort: 8_787 },
      })?.status ?? 200
    expect(['127.0.0.1', '::ffff:127.0.0.1', '::1'].map(from)).toEqual([200, 200, 200])
    expect(['10.0.0.5', '::ffff:10.0.0.5', '2001:db8::1', ''].map(from)).toEqual([403, 403, 403, 403])
    expect(refuseOutsiders('this-machine', asked, undefined)?.status).toBe(403)
  })

  test('S2 with tokens any proxy is allowed', async () => {
    const { url } = await bench(memory(), { work: false, tokens: TOKENS })
    for (const [, version, headers] of PROXIED) {
      const lines = [`GET /api/overview HTTP/${version}`, ...headers, 'Connection: close']
      const sent = lines.map((line) => line.replace('PORT', '80'))
      expect((await exchange(url, sent)).status).toBe(401)
    }
  })

  test('S2 --insecure on a loopback address answers only to loopback names', async () => {
    const { url } = await bench(memory(), { work: false, insecure: true })
    const status = async (host: string): Promise<number> =>
      (await exchange(url, ['GET /api/overview HTTP/1.1', `Host: ${host}`, 'Connection: close'])).status
    expect(await status('evil.example')).toBe(403)
    expect(await status('127.0.0.1.evil.example')).toBe(403)
    expect(await status('localhost')).toBe(200)
    expect(await status('127.0.0.1:9')).toBe(200)
  })

  test('S2 starting without authentication is a warning that names proxies; with tokens there is none', async () => {
    const local = await bench(memory(), { work: false })
    expect(local.warnings).toEqual([expect.stringMatching(/no authentication.*JOBMILL_TOKENS.*proxy/)])
    expect((await bench(memory(), { work: false, insecure: true })).warnings).toHaveLength(1)
    expect((await bench(memory(), { work: false, tokens: TOKENS })).warnings).toEqual([])
  })

  test('serve closes its server when the mill stops, so that it does not keep the process alive', async () => {
    const mill = jobmill({ store: sqlite(':memory:'), log: 'silent', serve: ['default'] })
    await mill.start()
    const { url, close } = await serve(mill, { port: 0 })
    await fetch(`${url}/healthz`)
    await mill.stop()
    await expect(connected(url)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await close()
  })

  test('D low serve closes its server when a mill stops that was never started, and refuses a stopped mill', async () => {
    const mill = jobmill({ store: sqlite(':memory:'), log: 'silent' })
    const { url, close } = await serve(mill, { port: 0 })
    expect((await fetch(`${url}/api/overview`)).status).toBe(200)
    await mill.stop()
    await expect(connected(url)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await close()
    expect(await rejection(() => serve(mill, { port: 0 }))).toMatchObject({ code: 'MILL_STOPPED' })
  })

  test('D low serve of a mill that stops before the server listens is refused', async () => {
    const mill = jobmill({ store: sqlite(':memory:'), log: 'silent' })
    const serving = rejection(() => serve(mill, { port: 0 }))
    await mill.stop()
    expect(await serving).toMatchObject({ code: 'MILL_STOPPED' })
  })

  test('S low a stop waits for requests in flight, so that an acknowledged change has its audit entry', async () => {
    const file = freshFile()
    const mill = jobmill({ store: sqlite(file), log: 'silent' })
    // So that the queue exists.
    await mill.enqueue('echo', null)
    const faults: unknown[] = []
    const stopsDuringChange = {
      ...mill,
      async pause(queue: string, how?: ByOption) {
        const changed = await mill.pause(queue, how)
        void mill.stop()
        // The stop has reached the server.
        await expect
          .poll(() =>
            connected(served.url).then(
              () => 'open',
              () => 'closed',
            ),
          )
          .toBe('closed')
        return changed
      },
    }
    const served = await serve(stopsDuringChange, { port: 0, onError: (error) => faults.push(error) })
    const paused = await fetch(`${served.url}/api/queues/default/pause`, { method: 'POST' })
    expect([paused.status, faults]).toEqual([200, []])
    await mill.stop()
    const later = jobmill({ store: sqlite(file), log: 'silent' })
    onTestFinished(async () => void (await later.stop()))
    expect((await later.audit.list()).entries).toMatchObject([{ what: 'queues.pause', target: 'default' }])
  })

  test('S low servePublic closes its server when the mill stops, and refuses a stopped mill', async () => {
    const mill = jobmill({ store: sqlite(':memory:'), log: 'silent' })
    const options = { port: 0, routes: () => null }
    const { url, close } = await servePublic(mill, options)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    await mill.stop()
    await expect(connected(url)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await close()
    expect(await rejection(() => servePublic(mill, options))).toMatchObject({ code: 'MILL_STOPPED' })
  })

  test('S low servePublic of a mill that stops before the server listens is refused', async () => {
    const mill = jobmill({ store: sqlite(':memory:'), log: 'silent' })
    const serving = rejection(() => servePublic(mill, { port: 0, routes: () => null }))
    await mill.stop()
    expect(await serving).toMatchObject({ code: 'MILL_STOPPED' })
  })

  test('S2 serve logs its warning once, to the log of the mill', async () => {
    const lines: unknown[][] = []
    const mill = jobmill({ store: memory(), log: (...line) => lines.push(line) })
    onTestFinished(async () => void (await mill.stop()))
    const { url, warnings, close } = await serve(mill, { port: 0 })
    await close()
    expect(lines).toEqual([['warn', warnings[0], { url }]])
  })

  test('S2 an address other than loopback without authentication is refused, with the options of the library', async () => {
    const mill = jobmill({ store: memory(), log: 'silent' })
    onTestFinished(async () => void (await mill.stop()))
    const error = await rejection(async () => serve(mill, { port: 0, bind: '0.0.0.0' }))
    expect(error).toMatchObject({ code: 'OPTION_INVALID', field: 'bind' })
    expect(String(error)).toContain('Pass tokens or authenticate')
  })

  test('S2 public routes do not share a port with a dashboard without authentication', async () => {
    const mill = jobmill({ store: memory(), log: 'silent' })
    onTestFinished(async () => void (await mill.stop()))
    const error = await rejection(async () => serve(mill, { port: 0, passthrough: () => null }))
    expect(error).toMatchObject({ code: 'OPTION_CONFLICT', field: 'passthrough' })
    expect(String(error)).toContain('servePublic')
  })

  test('S2 the port of public routes serves them and the probes, and nothing of the API or Mission Control', async () => {
    const mill = jobmill({ store: memory(), log: 'silent' })
    await mill.open()
    const callers: string[] = []
    const served = await servePublic(mill, {
      port: 0,
      routes: (asked, { address }) => {
        if (!new URL(asked.url).pathname.startsWith('/hooks/')) return null
        callers.push(address)
        return new Response('hook')
      },
    })
    onTestFinished(async () => {
      await served.close()
      await mill.stop()
    })
    const status = async (path: string): Promise<number> => (await fetch(`${served.url}${path}`)).status
    const hidden = [
      '/',
      '/jobs',
      '/metrics',
      '/api/overview',
      '/api/openapi.json',
      '/assets/x.js',
      '/mark.svg',
    ]
    for (const path of hidden) expect([path, await status(path)]).toEqual([path, 404])
    for (const path of ['/healthz', '/readyz', '/hooks/a'])
      expect([path, await status(path)]).toEqual([path, 200])
    expect(callers).toEqual(['127.0.0.1'])
  })
})

/**
 * Invalid Host headers: not a name, an IPv4 address or an IPv6 address in brackets, with an optional port.
 */
const NO_HOSTS = [
  '127.999.1.1',
  '1.2.3.4.5',
  '0x7g.1',
  '1.2.3.4.5:8787',
  'localhost:99999',
  'localhost:x',
  'a b',
  'a/b',
  'user@localhost',
  'a?b',
  'a#b',
  '[::1',
  '[zz]',
  '::1',
  'a%00b',
  'a\\b',
  '\u00fc/abcde',
  '127.1',
  '0x7f.1:8787',
]

describe('H5 the Host header', () => {
  test('H5 a Host that is not an authority is refused with 400 and a reason, in every mode', async () => {
    const mill = jobmill({ store: memory(), log: 'silent' })
    const hooks = await servePublic(mill, { port: 0, routes: () => new Response('hook') })
    onTestFinished(async () => {
      await hooks.close()
      await mill.stop()
    })
    const faults: unknown[] = []
    const onError = (error: unknown): void => void faults.push(error)
    const local = await bench(memory(), { work: false, onError })
    const tokens = await bench(memory(), { work: false, tokens: TOKENS, basePath: '/ops', onError })
    for (const { url } of [local, tokens, hooks])
      for (const host of NO_HOSTS)
        for (const path of ['/', '/api/overview', '/healthz']) {
          const { origin } = new URL(url)
          const { status, text } = await exchange(origin, [
            `GET ${path} HTTP/1.1`,
            `Host: ${host}`,
            'Connection: close',
          ])
          expect([host, path, status]).toEqual([host, path, 400])
          expect(text).toContain('"code":"HOST_INVALID"')
          expect(text).toContain('"field":"host"')
        }
    expect(faults).toEqual([])
    const good = [
      'localhost',
      'LOCALHOST:80',
      'jobs.example.com:8787',
      '[::1]:8787',
      'my_service',
      '10.0.0.1',
    ]
    for (const host of good)
      expect(
        (await exchange(hooks.url, ['GET /healthz HTTP/1.1', `Host: ${host}`, 'Connection: close'])).status,
      ).toBe(200)
  })

  test('H5 mounted into a server that accepts such a Host, the API refuses it', async () => {
    const mill = jobmill({ store: memory(), log: 'silent' })
    onTestFinished(async () => void (await mill.stop()))
    const api = httpApi(mill, { insecure: true })
    const asked = new Request('http://localhost/api/overview')
    Object.defineProperty(asked, 'url', { value: 'http://127.999.1.1/api/overview' })
    expect((await api.fetch(asked)).status).toBe(400)
  })

  test('H5 no Host ever causes a 500', async () => {
    const faults: unknown[] = []
    const { url } = await bench(memory(), { work: false, onError: (error) => faults.push(error) })
    const part = fc.constantFrom(
      '127',
      '999',
      '0x7',
      'g',
      '1',
      '.',
      '.',
      ':',
      '[',
      ']',
      '::',
      '%',
      '@',
      '/',
      'localhost',
      'xn--',
      '-',
      '_',
      '\u00e4',
    )
    const odd = fc
      .string({ unit: anyCharacter, maxLength: 12 })
      .map((text) => text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, ''))
    const numbers = fc
      .array(fc.constantFrom('0', '127', '999', '0x7', 'g', '256', '1'), { minLength: 2, maxLength: 6 })
      .map((parts) => parts.join('.'))
    const host = fc.oneof(
      numbers,
      fc.array(part, { maxLength: 8 }).map((parts) => parts.join('')),
      fc.ipV4Extended(),
      fc.ipV6(),
      odd,
    )
    await fc.assert(
      fc.asyncProperty(host, fc.constantFrom('/', '/api/overview', '/healthz'), async (name, path) => {
        const { status } = await exchange(url, [`GET ${path} HTTP/1.1`, `Host: ${name}`, 'Connection: close'])
        expect(status).toBeGreaterThanOrEqual(200)
        expect(status).toBeLessThan(500)
      }),
      { numRuns: inFull(1_000, 60), seed: 20_261_117 },
    )
    expect(faults).toEqual([])
  })
})

test('S headers that never end are cut off soon after their time limit', { timeout: 20_000 }, async () => {
  const server = await listenOn({
    port: 0,
    bind: '127.0.0.1',
    fetch: () => new Response('late'),
    slowBodies: true,
    platform: systemPlatform,
    headersMs: 100,
  })
  onTestFinished(() => server.close())
  const socket = await connected(server.url)
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\nx-slow: ')
  await once(socket.resume(), 'close')
  expect(socket.closed).toBe(true)
})

test('S1 S2 a header of a proxy is read after all headers of the client, and 1,000 headers are refused', async () => {
  const { url } = await bench(memory(), { work: false })
  const exchangeWith = (headers: number) =>
    exchange(url, [
      'GET /api/overview HTTP/1.1',
      `Host: ${new URL(url).host}`,
      'Connection: close',
      ...Array.from({ length: headers - 3 }, () => 'te:'),
      'X-Forwarded-For: 203.0.113.7',
    ])
  const { status, text } = await exchangeWith(999)
  expect([status, text]).toEqual([403, expect.stringContaining('"field":"x-forwarded-for"')])
  // Node drops headers beyond its limit, so a client could hide the last ones.
  for (const headers of [1_000, 1_001, 1_050, 2_100]) expect((await exchangeWith(headers)).status).toBe(431)
})

describe('S event streams', () => {
  test('S are limited per caller and in total; closing one makes room', async () => {
    const { url } = await bench(memory(), { tokens: TOKENS, work: false, streamsPerCaller: 2, maxStreams: 3 })
    const leave: AbortController[] = []
    const open = async (role: string): Promise<Response> => {
      const stop = new AbortController()
      leave.push(stop)
      onTestFinished(() => stop.abort())
      const headers = { authorization: `Bearer ${tokenOf(role)}` }
      return fetch(`${url}/api/events`, { headers, signal: stop.signal })
    }
    const statuses: number[] = []
    for (const role of ['viewer', 'viewer', 'viewer', 'operator', 'operator', 'admin'])
      statuses.push((await open(role)).status)
    expect(statuses).toEqual([200, 200, 429, 200, 503, 503])
    expect(await (await open('viewer')).json()).toMatchObject({
      code: 'TOO_MANY',
      detail: expect.stringContaining('vera has too many event streams open (max 2') as string,
    })
    leave[0]?.abort()
    await expect.poll(async () => (await open('admin')).status).toBe(200)
  })
})
